/** What may be the name of most objects. */
export const objectName = {
  test: /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/,
  says: 'must be the name of an object (a-z, 0-9, -, .)',
};
