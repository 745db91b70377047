/** The list of the console: its view, its suggestions, its files, and orders for selected rows. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { csvCell, exportRows, transactionExport } from '../../src/console/export.ts';
import { timesIn } from '../../src/console/pages/markup.ts';
import { testRedis } from '../support/redis.ts';
import { soon } from '../support/soon.ts';
import { type ApiStage, type Somebody, startApiStage } from './api-stage.ts';

const redis = testRedis();
let stage: ApiStage;
let ids: readonly string[];
let number: string;
const apId = '=HYPERLINK("http://evil.example","x")';

beforeAll(async () => {
  // Of somebody who has left the configuration file since.
  await redis.client().hset(`${redis.prefix.slice(-32)}:operators:views`, 'former', 'sealed');
  stage = await startApiStage(redis);
  stage.runner();
  number = stage.somebody();
  ids = [await stage.failed(401, number, apId), await stage.failed(208, stage.somebody(), apId)];
  await stage.indexer.idle();
});
afterAll(async () => {
  await stage.close();
  expect(stage.troubles).toEqual([]);
});

const get = async (who: Somebody, path: string): Promise<string> =>
  (await stage.fetch(path, { headers: { cookie: stage.cookies[who] } })).text();

/** Sends a form of the list. @returns Status, and where it leads to. */
const send = async (who: Somebody, path: string, fields: Record<string, string>, referer = '') => {
  const answer = await stage.post(who, path, fields, { referer });
  return { status: answer.status, to: answer.headers.get('location'), text: await answer.text() };
};

const headingsIn = (page: string) =>
  [...page.matchAll(/role="columnheader" class="(?:number)?">([^<]+)</g)].map(([, title]) => title);

describe('the view of the list', () => {
  it('has the columns that its reader has chosen, and the id in any case', async () => {
    const list = '/admin/transactions?state=failed';
    expect(headingsIn(await get('viewer', list))).toContain('Application');
    const fields = { columns: '1', 'column-profile': 'on', 'column-time': 'on', state: 'failed' };
    expect(await send('viewer', '/admin/view', fields)).toMatchObject({ status: 303, to: list });
    const page = await get('viewer', list);
    expect(headingsIn(page)).toEqual(['Transaction', 'Time', 'Profile']);
    for (const id of ids) expect(page).toContain(`href="/admin/transactions/${id}">${id}</a>`);
    expect(headingsIn(await get('operator', list))).toContain('Application');
  });

  it('keeps filters by name until they are removed, sealed, and no more than twenty', async () => {
    const msisdn = number.slice(1);
    const saved = await send('operator', '/admin/view', {
      save: ' My <b>phone ',
      msisdn,
      state: 'failed',
    });
    expect(saved.to).toBe(`/admin/transactions?state=failed&msisdn=${msisdn}&notice=filter-saved`);
    const link = `<a href="/admin/transactions?state=failed&amp;msisdn=${msisdn}">My &lt;b&gt;phone</a>`;
    expect(await get('operator', '/admin/transactions')).toContain(link);
    expect(await get('viewer', '/admin/transactions')).not.toContain(msisdn);
    const stored = await redis.client().hgetall(`${stage.prefix}:operators:views`);
    expect(Object.keys(stored)).toContain('the-operator');
    expect(JSON.stringify(stored)).not.toContain(msisdn);
    expect((await send('operator', '/admin/view', { save: 'all' })).to).toContain('filter-unnamed');
    expect((await send('operator', '/admin/view', { save: 'x', fault: '9' })).to).toContain(
      'filter-unnamed',
    );
    for (let each = 2; each <= 20; each += 1)
      await send('operator', '/admin/view', { save: `${each}`, text: 'x' });
    expect((await send('operator', '/admin/view', { save: '21', text: 'x' })).to).toContain(
      'filter-many',
    );
    expect((await send('operator', '/admin/view', { save: '20', text: 'y' })).to).toContain(
      'filter-saved',
    );
    await send('operator', '/admin/view', { forget: 'My <b>phone' });
    expect(await get('operator', '/admin/transactions')).not.toContain(link);
  });

  it('ends with its user', async () => {
    const by = { name: 'test', role: 'admin', via: 'cli' } as const;
    const user = { name: 'nora', role: 'viewer', oidcSubject: 'sub' } as const;
    const { users, views } = stage.operators;
    await users.add(by, user);
    await views.change('nora', { times: 'relative' });
    await users.remove(by, 'nora');
    await users.add(by, user);
    expect((await views.read('nora')).times).toBe('UTC');
    expect(await views.names()).not.toContain('former');
  });

  it('has the fields of a filter and the charts in the time zone that its reader has chosen', async () => {
    const switched = (times: string) => send('operator', '/admin/view', { times });
    const fieldIn = (page: string, name: string) =>
      new RegExp(`name="${name}" type="datetime-local" step="any" value="([^"]*)"`).exec(
        page.replaceAll(
          /(name="\w+") autocomplete="off" spellcheck="false" (value="[^"]*") (type="datetime-local" step="any")/g,
          '$1 $3 $2',
        ),
      )?.[1];
    await switched('Asia/Tehran');
    const link = '/admin/transactions?from=2026-11-21T10%3A33%3A00.000';
    const page = await get('operator', link);
    // Links are in UTC; fields are shown in the zone, say so, and send it.
    expect(fieldIn(page, 'from')).toBe('2026-11-21T14:03:00.000');
    expect(page).toContain('Submitted from (Asia/Tehran)');
    expect(page).toContain('<input type="hidden" name="zone" value="Asia/Tehran">');
    const sent = await get(
      'operator',
      '/admin/transactions?from=2026-11-21T14%3A03&zone=Asia%2FTehran',
    );
    expect(fieldIn(sent, 'from')).toBe('2026-11-21T14:03:00.000');
    expect(sent).toContain('export?format=csv&amp;from=2026-11-21T10%3A33%3A00.000"');
    const workflows = await get(
      'operator',
      '/admin/workflows?to=2026-11-21T14%3A03&zone=Asia%2FTehran',
    );
    expect(fieldIn(workflows, 'to')).toBe('2026-11-21T14:03:00.000');
    // The hour that a zone has twice, or not at all, is read as one of them.
    const gap = await get(
      'operator',
      '/admin/transactions?from=2026-03-29T02%3A30&zone=Europe%2FZurich',
    );
    expect(gap).toMatch(/export\?format=csv&amp;from=2026-03-29T0[01]%3A30/);
    expect(
      await get('operator', '/admin/transactions?from=2026-11-21T14%3A03&zone=No%2FWhere'),
    ).toContain('from=2026-11-21T14%3A03');
    const overview = await get('operator', '/admin?range=1h');
    expect(overview).toMatch(/text-anchor="end">\d\d:\d\d Asia\/Tehran<\/text><\/svg>/);
    expect(overview).not.toContain('From (UTC)');
    const [, first = ''] = /text-anchor="start">(\d\d):\d\d</.exec(overview) ?? [];
    await switched('UTC');
    const utc = await get('operator', '/admin?range=1h');
    expect(utc).toMatch(/text-anchor="end">\d\d:\d\d UTC<\/text><\/svg>/);
    const [, same = ''] = /text-anchor="start">(\d\d):\d\d</.exec(utc) ?? [];
    expect(first).not.toBe(same);
    expect(fieldIn(await get('operator', link), 'from')).toBe('2026-11-21T10:33:00.000');
  });

  it('has times in UTC, in a time zone, or by their distance, on every page', async () => {
    const path = `/admin/transactions/${ids[0]}`;
    const timeIn = (page: string) =>
      /<dt>Submitted<\/dt>.*?<time[^>]*>([^<]*)</s.exec(page)?.[1] ?? '';
    const utc = timeIn(await get('admin', path));
    const back = await send(
      'admin',
      '/admin/view',
      { times: 'Asia/Kathmandu' },
      `http://test${path}?notice=replayed`,
    );
    expect(back).toMatchObject({ status: 303, to: `${path}?notice=replayed` });
    const [minutes, there] = [utc, timeIn(await get('admin', path))].map((text) =>
      Number(text.slice(-5, -3)),
    );
    expect(((there ?? 0) - (minutes ?? 0) + 60) % 60).toBe(45);
    await send('admin', '/admin/view', { times: 'relative' }, 'http://evil.example/admin/logout');
    expect(timeIn(await get('admin', path))).toMatch(/^\d+ (?:s|min) ago$/);
    // Without a script the browser names no zone.
    const ask = await send('admin', '/admin/view', { times: 'local' });
    expect(ask.text).toContain('<option value="Europe/Zurich">');
  });

  it('writes full and short times alike, and leaves what is no time', () => {
    const page = `<time datetime="2026-06-30T23:05:09.120Z" title="x">2026-06-30 23:05:09.120</time>
<time datetime="2026-06-30T23:05:09.120Z" title="x">30 Jun 23:05:09</time><time datetime="" title="x"></time>`;
    const at = Date.UTC(2026, 6, 2);
    const texts = (times: string) =>
      [...timesIn(page, times, at).matchAll(/<time[^>]*>([^<]*)/g)].map(([, text]) => text);
    expect(texts('Europe/Zurich')).toEqual(['2026-07-01 01:05:09.120', '1 Jul 01:05:09', '']);
    expect(texts('relative')).toEqual(['24 h ago', '24 h ago', '']);
    expect(timesIn(page, 'No/Zone', at)).toBe(page);
  });

  it('suggests applications, and numbers to those who may see them', async () => {
    const [viewer, operator] = [
      await get('viewer', '/admin/transactions'),
      await get('operator', '/admin/transactions'),
    ];
    for (const page of [viewer, operator])
      expect(page).toContain('<option value="=HYPERLINK(&quot;');
    expect(operator).toContain(`<option value="${number}">`);
    expect(viewer).not.toContain('id="numbers"');
  });
});

it('reads a range of days once in ten seconds', async () => {
  const read = vi.spyOn(stage.history, 'overview');
  await Promise.all(
    ['30d', '30d', '15m', '15m'].map((range) => get('viewer', `/admin?range=${range}`)),
  );
  expect(read).toHaveBeenCalledTimes(3);
  read.mockRestore();
});

describe('an export', () => {
  it('has what the list shows to the role, and no formula', async () => {
    const path = '/admin/transactions/export?format=csv&state=failed';
    const [head, ...lines] = (await get('viewer', path)).trimEnd().split('\r\n');
    expect(head).toMatch(
      /^"MSSP_TransID","AP_ID","AP_TransID","MSISDN","profile","state","fault",/,
    );
    expect(lines).toHaveLength(2);
    for (const line of lines)
      expect(line).toContain(`,"'=HYPERLINK(""http://evil.example"",""x"")",`);
    expect(lines.join()).not.toContain(number.slice(1));
    expect(await get('operator', path)).toContain(`,"'${number}",`);
    const answer = await stage.fetch(path, { headers: { cookie: stage.cookies.viewer } });
    expect(answer.headers.get('content-disposition')).toBe(
      'attachment; filename="transactions.csv"',
    );
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const { entries = [] } = (await stage.audit.read({ action: 'export' })) ?? {};
    expect(entries[0]).toMatchObject({
      who: 'the-viewer',
      details: { format: 'csv', fields: 'state' },
    });
    await get(
      'operator',
      `/admin/transactions/export?format=csv&msisdn=${number.slice(1)}&fault=401`,
    );
    const [entry] = (await stage.audit.read({ action: 'export' }))?.entries ?? [];
    expect(entry?.details).toEqual({ format: 'csv', fields: 'fault msisdn' });
  });

  it('as JSON has the rows of the API', async () => {
    const { rows } = (await stage.ask('viewer', 'GET', '/admin/api/transactions?state=failed'))
      .body;
    const document = JSON.parse(
      await get('viewer', '/admin/transactions/export?format=json&state=failed'),
    );
    expect(document).toEqual({ rows, truncated: false });
    const none = await get('viewer', '/admin/transactions/export?format=json&text=none');
    expect(JSON.parse(none)).toEqual({ rows: [], truncated: false });
  });

  it('ends at its bound and says so', async () => {
    const answer = exportRows(
      transactionExport(stage.history, 'viewer', { state: ['failed'] }),
      'json',
      { trouble: () => {} },
      1,
    );
    expect(await answer.json()).toMatchObject({ rows: [{ msspTransId: ids[1] }], truncated: true });
  });

  it('that breaks off is logged', async () => {
    const gone = new Error('Connection is closed.');
    const search = () => Promise.reject(gone);
    const troubles: Error[] = [];
    const log = { trouble: (error: Error) => void troubles.push(error) };
    const answer = exportRows(transactionExport({ search }, 'viewer', {}), 'csv', log);
    await expect(answer.text()).rejects.toThrow(gone);
    expect(troubles).toEqual([gone]);
  });

  it.each(['format=csv&fault=9', 'format=xml', 'format=csv&msisdn=41760000000'])(
    'is refused for %s',
    async (query) => {
      const headers = { cookie: stage.cookies.viewer };
      expect((await stage.fetch(`/admin/transactions/export?${query}`, { headers })).status).toBe(
        422,
      );
    },
  );

  it.each([
    ['+41790000000', "'+41790000000"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t'=1"],
    ['x;=1;y\t+1', "x;'=1;y\t'+1"],
    ['a "b", c', 'a ""b"", c'],
    ['two\nlines', 'two\nlines'],
    ['two\n=lines', "two\n'=lines"],
    ['a=b', 'a=b'],
    [undefined, ''],
    [7, '7'],
  ])('writes %j as %j in quotes', (value, cell) => expect(csvCell(value)).toBe(`"${cell}"`));
});

describe('an order for selected rows', () => {
  it('is planned, replays those and no others', async () => {
    const [id = '', other = ''] = ids;
    const plan = await get('operator', `/admin/replays/plan?picked=1&id=${id}&kind=replay`);
    expect(plan).toContain('Replay 1 transaction<');
    expect(plan).toContain('1 selected transaction would do.');
    const fields = {
      ids: id,
      kind: 'replay',
      expected: '1',
      perSecond: '50',
      reason: 'They called',
    };
    expect((await send('viewer', '/admin/replays', fields)).status).toBe(403);
    const refused = await send('operator', '/admin/replays', { ...fields, reason: '' });
    expect(refused.status).toBe(422);
    // After the switch of the times a browser would ask for this address by GET.
    expect([plan, refused.text].map((page) => page.includes('action="/admin/view"'))).toEqual([
      true,
      false,
    ]);
    const started = await send('operator', '/admin/replays', fields);
    expect(started.to).toMatch(/^\/admin\/replays\/B/);
    await soon(() => expect(stage.asked()).toContain(`${id} 2`));
    expect(stage.asked()).not.toContain(`${other} 2`);
    await stage.answer(id, 2, 208);
    await soon(async () =>
      expect(await stage.history.find(id)).toMatchObject({ state: 'failed', attempt: 2 }),
    );
  });

  it.each(['', 'state=failed&text=x&'])(
    'of nothing leads back to the list (%s)',
    async (filter) => {
      const headers = { cookie: stage.cookies.operator };
      const path = `/admin/replays/plan?${filter}picked=1&kind=cancel`;
      const { status, headers: answered } = await stage.fetch(path, { headers });
      const to = `/admin/transactions?${filter}notice=none-selected`;
      expect([status, answered.get('location')]).toEqual([303, to]);
    },
  );

  it('keeps the filter of the list, which does not narrow the order', async () => {
    const list = await get('operator', '/admin/transactions?state=failed&text=bank');
    expect(list).toMatch(/id="picked"(?:(?!<\/form>).)*name="text" value="bank"/s);
    const plan = await get(
      'operator',
      `/admin/replays/plan?picked=1&kind=replay&text=none&id=${ids[1]}`,
    );
    expect(plan).toContain('Replay 1 transaction<');
    expect(plan).toContain(
      '<a href="/admin/transactions?text=none&amp;state=failed">Back to the list</a>',
    );
  });

  it('cancels open ones, after a dry run and with a reason', async () => {
    const open = [await stage.submit(stage.somebody()), await stage.submit(stage.somebody())];
    const [ended = ''] = ids;
    const query = new URLSearchParams([
      ['kind', 'cancel'],
      ...[...open, ended].map((id): [string, string] => ['id', id]),
    ]);
    const plan = await get('operator', `/admin/replays/plan?${query}`);
    expect(plan).toContain('Cancel 2 transactions');
    expect(plan).toContain('Not open any more');
    for (const id of open) expect(await stage.status(id)).toBe('504');
    const ordered = {
      ids: [...open, ended].join(' '),
      kind: 'cancel',
      expected: '2',
      perSecond: '50',
    };
    const started = await send('operator', '/admin/replays', {
      ...ordered,
      reason: 'A wrong campaign',
    });
    for (const id of open) await soon(async () => expect(await stage.status(id)).toBe('401'));
    await soon(async () =>
      expect(await get('operator', started.to ?? '')).toContain('class="state done"'),
    );
    const report = await get('operator', started.to ?? '');
    expect(report).toContain('<h1>Cancel of 2 transactions</h1>');
    expect(report.match(/<td>cancelled<\/td>/g)).toHaveLength(2);
    const { entries = [] } =
      (await stage.audit.read({ target: open[0] ?? '', action: 'cancel' })) ?? {};
    expect(entries).toMatchObject([
      { who: 'the-operator', details: { bulk: started.to?.split('/').at(-1) } },
    ]);
    expect(await get('operator', '/admin/audit?action=bulk-cancel')).toContain('A wrong campaign');
    expect(await get('viewer', started.to ?? '')).not.toContain('A wrong campaign');
  });
});
