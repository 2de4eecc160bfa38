import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import hostCensus from '../functions/host-census/index.ts';
import { noCluster, send, startApp } from '../support/http.ts';

it('warns of a variable that is set for the function and is no setting, as a condition', async () => {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const app = await startApp(hostCensus, {
    access: noCluster,
    environment: { HOST_CENSUS_CONFIGMAP: 'census', HOST_CENSUS_CONFIG_MAP: 'census' },
    log: pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
  });

  const { body } = await send(app.url, { method: 'GET', path: '/metrics' });
  await app.close();

  const message = 'HOST_CENSUS_CONFIGMAP: set HOST_CENSUS_CONFIG_MAP if that was meant, or remove it';
  expect(lines.filter(({ level }) => level === 40)).toEqual([
    expect.objectContaining({ function: 'host-census', condition: 'SettingUnknown', messages: [message] }),
  ]);
  expect(body).toContain('kube_reflex_condition{function="host-census",type="SettingUnknown",severity="warning"} 1');
});
