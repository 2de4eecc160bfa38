import { describe, expect, it } from '@jest/globals';
import { eventAbout, eventName, eventOf, type News } from './event.ts';
import { deployments } from './resource.ts';

const news: News = { type: 'Warning', reason: 'Deferred', note: 'later' };
const metadata = { name: 'web', namespace: 'shop', uid: 'u' };

describe('an Event', () => {
  it('is about the object and its kind, which items of lists do not carry', () => {
    const step = eventAbout(deployments, { metadata }, news);

    expect(step).toMatchObject({ do: 'event', about: { apiVersion: 'apps/v1', kind: 'Deployment', metadata } });
    expect(eventAbout(deployments, {}, news).about).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment' });
  });

  it('has one name for the same news on the same occasion, and another otherwise', () => {
    const [one, same, other] = [
      eventName(eventAbout(deployments, { metadata }, { ...news, occasion: 'a' })),
      eventName(eventAbout(deployments, { metadata }, { ...news, note: 'in other words', occasion: 'a' })),
      eventName(eventAbout(deployments, { metadata }, { ...news, occasion: 'b' })),
    ];

    expect(one).toMatch(/^web\.[0-9a-f]{16}$/);
    expect([same === one, other === one]).toEqual([true, false]);
  });

  it('is cut to what the API server takes, between characters', () => {
    const step = eventAbout(deployments, { metadata }, { ...news, note: `a${'é'.repeat(600)}` });
    const stored = eventOf(step, 'kube-reflex.dev/sample', new Date(0));

    expect(stored['note']).toBe(`a${'é'.repeat(511)}`);
    expect(stored).toMatchObject({
      metadata: { namespace: 'shop' },
      eventTime: '1970-01-01T00:00:00.000000Z',
      regarding: { kind: 'Deployment', name: 'web', uid: 'u' },
    });
    expect(eventOf(eventAbout(deployments, {}, news), 'x', new Date(0)).metadata).toMatchObject({
      namespace: 'default',
    });
  });
});
