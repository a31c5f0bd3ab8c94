import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandLine } from '../../../../src/commands/command-line.ts'
import { readMatrix } from '../../../../src/commands/conformance-matrix.ts'
import { type Check, countsOf } from '../../../../src/kit/conformance/checks.ts'
import { readPeer } from '../../../../src/kit/conformance/peer.ts'
import { peerRow } from '../../../../src/kit/conformance/report/matrix.ts'
import { matrixHtml } from '../../../../src/kit/conformance/report/matrix-html.ts'
import { matrixMarkdown, percent } from '../../../../src/kit/conformance/report/matrix-markdown.ts'

/* The matrix of gateways. */

test('the published pages are made of the published numbers', () => {
  const matrix = readMatrix('docs/conformance.json')
  expect(readFileSync('docs/conformance.md', 'utf8')).toBe(matrixMarkdown(matrix))
  expect(readFileSync('docs/conformance.html', 'utf8')).toBe(matrixHtml(matrix))
})

test('a row counts cells, facts and rules; what is unsupported counts nowhere', () => {
  const check = (cell: string, rule: string, more: Partial<Check>): Check => ({
    ...{ id: `${cell}/${rule}`, cell, rule, level: 'must', status: 'pass', says: 'It holds.', source: 'a', ...more },
  })
  const [A, B, C] = ['chat-chat/a/whole', 'chat-chat/b/whole', 'messages-chat/a/whole'] as const
  const checks = [
    check(A, 'request.meaning:turns[0].text', { meaning: 'kept' }),
    check(A, 'answer.schema', {}),
    check(B, 'request.meaning:turns[0].text', { meaning: 'lost-silently', status: 'fail', details: ['a', 'b'] }),
    check(B, 'request.meaning:turns[1].text', { meaning: 'lost-silently', status: 'fail' }),
    check(B, 'answer.schema', { status: 'fail' }),
    check(B, 'answer.advised', { level: 'should', status: 'advice' }),
    check(C, 'answer.supported', { status: 'unsupported' }),
  ]
  const cells = [A, B, C].map(id => {
    const [pair = '', scenario = '', mode = ''] = id.split('/')
    const [caller = '', upstream = ''] = pair.split('-')
    return { id, caller, upstream, scenario, mode, command: `repeat ${id}` }
  })
  const target = { name: 'Plain proxy', version: '1.2.3' }
  const row = peerRow(readPeer('proxy'), {
    ...{ schema: 'interlingua-conformance-1', kit: '1', started: '2026-11-28T00:00:00.000Z', mode: 'translation' },
    ...{ target, counts: countsOf(checks), meanings: {}, cells, checks },
  })
  const facts = { kept: 1, lostReported: 0, lostSilently: 2, changed: 0 }
  expect(row).toMatchObject({ name: 'proxy', version: '1.2.3', date: '2026-11-28' })
  expect(row.total).toEqual({ cells: 2, passed: 1, unsupported: 1, ...facts, rules: 2, broken: 1 })
  expect(row.pairs.map(({ caller, upstream, cells: count }) => [caller, upstream, count])).toEqual([
    ['chat', 'chat', 2],
    ['messages', 'chat', 0],
  ])
  expect(row.failures.map(({ rule, cells: count, command }) => [rule, count, command])).toEqual([
    ['request.meaning:turns[#].text', 1, `repeat ${B}`],
    ['answer.schema', 1, `repeat ${B}`],
  ])
})

test.each([
  [0, 0, '–'],
  [0, 5, '0 %'],
  [5, 5, '100 %'],
  [1, 100_000, '0.1 %'],
  [99_999, 100_000, '99.9 %'],
  [1, 3, '33.3 %'],
])('%i of %i is %s', (part, whole, text) => expect(percent(part, whole)).toBe(text))

test('results of peers are read instead of run; those of a target are refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-matrix-'))
  const ran = async (...args: string[]) => {
    let printed = ''
    const print = (text: string) => (printed += `${text}\n`)
    return { code: await commandLine(['conformance', ...args], { out: print, fault: print }), read: () => printed }
  }
  const [results, live] = [join(folder, 'results.json'), join(folder, 'live.json')]
  await ran('--peer', 'proxy', '--only', 'chat-chat/text/whole', '--json', results)
  await ran('--target', 'http://127.0.0.1:9', '--model', 'm', '--only', 'chat/text/whole', '--json', live)
  const json = join(folder, 'matrix.json')
  const { code, read } = await ran('matrix', results, '--json', json)
  expect(code).toBe(0)
  expect(read()).toContain('| Plain proxy | 1 of 1 | 100 % |')
  expect(readMatrix(json).peers.map(({ name }) => name)).toEqual(['proxy'])
  expect((await ran('matrix', live)).code).toBe(2)
  // An earlier matrix gives the rows of the peers that are not named, in its order.
  const matrix = readMatrix('docs/conformance.json')
  const [before, after, page] = ['before.json', 'after.json', 'after.md'].map(name => join(folder, name))
  const old = matrix.peers.map(peer => ({ ...peer, date: '2026-01-02' }))
  writeFileSync(before!, JSON.stringify({ ...matrix, peers: old }))
  await ran('matrix', results, before!, '--json', after!, '--markdown', page!)
  const { peers } = readMatrix(after!)
  expect(peers.map(({ name }) => name)).toEqual(matrix.peers.map(({ name }) => name))
  expect(peers.find(({ name }) => name === 'proxy')?.total.cells).toBe(1)
  expect(readFileSync(page!, 'utf8')).toContain('LiteLLM (2026-01-02), ')
  writeFileSync(before!, '{')
  expect((await ran('matrix', before!)).code).toBe(2)
})
