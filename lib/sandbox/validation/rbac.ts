import { at, isEqual, type Json } from '../schema/value.ts';
import { field } from '../checks/fields.ts';
import type { Report } from '../checks/report.ts';

export function checkRoleRefUnchanged(report: Report, object: Json, old: Json): void {
  if (!isEqual(object['roleRef'], old['roleRef'])) {
    const { path, value } = field(object, '', 'roleRef');
    const shown = { APIGroup: at(value, 'apiGroup'), Kind: at(value, 'kind'), Name: at(value, 'name') };
    report.invalid(path, shown, 'cannot change roleRef');
  }
}
