import { describe, expect, it } from '@jest/globals';
import { WebhookFailure } from '../../webhook-client/call-failure.ts';
import type { AdmissionResponse } from '../../kube/model/review.ts';
import { add, attributes, encoded, object, setUp, webhook, type Answer } from '../test/webhooks.ts';

describe('what a webhook answers', () => {
  it.each<[string, Partial<AdmissionResponse>, object]>([
    [
      'nothing',
      {},
      { code: 400, message: 'admission webhook "only.example.com" denied the request without explanation' },
    ],
    [
      'a message and a code',
      { status: { message: 'no way', code: 418 } },
      { code: 418, message: 'admission webhook "only.example.com" denied the request: no way' },
    ],
    [
      'a reason',
      { status: { reason: 'Because', details: { name: 'n' } } },
      {
        code: 400,
        reason: 'Because',
        details: { name: 'n' },
        message: 'admission webhook "only.example.com" denied the request: Because',
      },
    ],
    ['a code of success', { status: { code: 200 } }, { code: 400 }],
  ])('passes on a denial with %s', async (_name, response, status) => {
    const { admission } = setUp({
      validating: { a: [{ ...webhook('only'), failurePolicy: 'Ignore' }] },
      answers: { only: () => ({ allowed: false, ...response }) },
    });

    const refused = admission.validate(attributes());

    await expect(refused).rejects.toMatchObject({ status });
  });

  it.each<[string, Answer, string]>([
    ['another uid', () => ({ uid: 'z' }), 'received invalid webhook response: expected response.uid='],
    ['a patch without type', () => ({ patch: 'W10=' }), 'webhook returned response.patch but not response.patchType'],
    ['a type without patch', () => ({ patchType: 'JSONPatch' }), 'returned response.patchType but not response.patch'],
    ['another type', () => ({ patchType: 'Merge', patch: encoded([{}]) }), 'unsupported patch type "Merge"'],
    [
      'no JSON',
      () => ({ patchType: 'JSONPatch', patch: 'bm9wZQ==' }),
      'received undecodable patch in webhook response',
    ],
    [
      'no list',
      () => ({ patchType: 'JSONPatch', patch: encoded({}) }),
      'cannot unmarshal object into Go value of type',
    ],
    ['nothing', fail, 'failed to call webhook: Post "https://only/": EOF'],
  ])('fails the request by policy when a webhook answers %s', async (_name, answer, message) => {
    const strict = setUp({ mutating: { a: [webhook('only')] }, answers: { only: answer } });
    const lenient = setUp({
      mutating: { a: [{ ...webhook('only'), failurePolicy: 'Ignore' }] },
      answers: { only: answer },
    });

    const refused = strict.admission.mutate(attributes());

    await expect(refused).rejects.toMatchObject({ code: 500, refusal: { reason: 'InternalError' } });
    await expect(refused).rejects.toThrow(message);
    await expect(lenient.admission.mutate(attributes())).resolves.toEqual(object);
  });

  it('fails the request whatever the policy when a patch does not fit', async () => {
    const { admission } = setUp({
      mutating: { a: [{ ...webhook('only'), failurePolicy: 'Ignore' }] },
      answers: { only: add('/none/x', 1) },
    });

    await expect(admission.mutate(attributes())).rejects.toThrow(
      'Internal error occurred: add operation does not apply',
    );
  });

  it('lets nobody patch what is deleted', async () => {
    const { admission } = setUp({ mutating: { a: [webhook('only')] }, answers: { only: add('/x', 1) } });
    const { object: _none, ...deletion } = attributes({ operation: 'DELETE', old: object });

    await expect(admission.mutate(deletion)).rejects.toThrow(
      'admission webhook "only.example.com" attempted to modify the object, which is not supported for this operation',
    );
  });

  it('takes no patch from a validating webhook', async () => {
    const { admission } = setUp({ validating: { a: [webhook('only')] }, answers: { only: add('/x', 1) } });

    await expect(admission.validate(attributes())).rejects.toThrow('validating webhook may not return response.patch');
  });

  it('passes warnings on that fit into a header', async () => {
    const { admission, warnings } = setUp({
      validating: { a: [webhook('only')] },
      answers: { only: () => ({ warnings: ['mind "this"', 'line\nbreak', '', 'ünï'] }) },
    });

    await admission.validate(attributes({ warn: (text) => warnings.push(text) }));

    expect(warnings).toEqual(['mind "this"', 'ünï']);
  });
});

function fail(): never {
  throw new WebhookFailure('Post "https://only/": EOF');
}
