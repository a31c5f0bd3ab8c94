import { execFileSync, spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Check, countsOf, type Status } from '../../../src/kit/conformance/checks.ts'
import { badge } from '../../../src/kit/conformance/report/badge.ts'
import { diffOf, diffText } from '../../../src/kit/conformance/report/diff.ts'
import { deviationOf, deviationText, readExpected } from '../../../src/kit/conformance/report/expected.ts'
import { html } from '../../../src/kit/conformance/report/html.ts'
import { junit } from '../../../src/kit/conformance/report/junit.ts'
import { markdown } from '../../../src/kit/conformance/report/markdown.ts'
import type { Results } from '../../../src/kit/conformance/report/results.ts'
import { lineOf, summary } from '../../../src/kit/conformance/report/summary.ts'

const check = (id: string, status: Status, more: Partial<Check> = {}): Check => ({
  ...{ id, cell: id.split('/').slice(0, 3).join('/'), rule: id.split('/').slice(3).join('/') },
  ...{ level: 'must', status, says: 'It holds.', source: 'https://example.org', ...more },
})

function resultsWith(checks: readonly Check[]): Results {
  const cells = [...new Set(checks.map(({ cell }) => cell))].map(id => {
    const [pair = '', scenario = '', mode = 'whole'] = id.split('/')
    const [caller = '', upstream = ''] = pair.split('-')
    return { id, caller, upstream, scenario, mode, took: 1500, command: `interlingua conformance --only '${id}'` }
  })
  return {
    ...{ schema: 'interlingua-conformance-1', kit: '1.0.0', started: '2026-11-24T00:00:00.000Z', mode: 'translation' },
    ...{ target: { name: 'A gateway' }, counts: countsOf(checks), meanings: {}, cells, checks },
  }
}

const RESULTS = resultsWith([
  check('chat-chat/text/whole/answer.http.status', 'pass'),
  check('chat-messages/text/stream/stream.done', 'fail', { details: ['a | b ` c', '<&>"\u0000\ud800'] }),
  check('chat-messages/text/stream/request.meaning:turns[0].text', 'advice', { meaning: 'lost-silently' }),
  check('chat-messages/tool/whole/harness', 'harness-error'),
  check('messages-chat/text/whole/answer.supported', 'unsupported'),
])

const hasPython = spawnSync('python3', ['--version']).status === 0
const READ_XML =
  'import sys,json,xml.etree.ElementTree as x; print(json.dumps([[s.get("name"),s.get("failures"),s.get("errors"),s.get("skipped"),[[c.get("name"),[e.tag for e in c],[e.text for e in c]] for c in s]] for s in x.fromstring(sys.stdin.buffer.read())]))'
const read = (xml: string) => JSON.parse(execFileSync('python3', ['-c', READ_XML], { input: xml }).toString())

describe('JUnit', () => {
  test.runIf(hasPython)('another XML reader finds each check with its state and its details', () => {
    const suites = read(junit(RESULTS))
    expect(suites.map((suite: unknown[]) => suite.slice(0, 4))).toEqual([
      ['chat-chat/text/whole', '0', '0', '0'],
      ['chat-messages/text/stream', '1', '0', '0'],
      ['chat-messages/tool/whole', '0', '1', '0'],
      ['messages-chat/text/whole', '0', '0', '1'],
    ])
    expect(suites[1][4]).toEqual([
      [
        'stream.done',
        ['failure'],
        [expect.stringContaining('a | b ` c\n<&>"\ufffd\ufffd\nReproduce with: interlingua')],
      ],
      ['request.meaning:turns[0].text', [], []],
    ])
  })

  test('no detail ends an element or leaves a character that XML forbids', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), detail => {
        const xml = junit(resultsWith([check('a-b/c/whole/d', 'fail', { details: [detail], says: detail })]))
        expect(xml.match(/<[a-z/]+/g)).toEqual([
          '<testsuites',
          '<testsuite',
          '<testcase',
          '<failure',
          '</failure',
          '</testcase',
          '</testsuite',
          '</testsuites',
        ])
        expect(xml.isWellFormed()).toBe(true)
        expect(xml).not.toMatch(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/u)
      }),
    )
  })
})

describe('Markdown', () => {
  test('has a field for each pair, and each failure with its command', () => {
    const text = markdown(RESULTS)
    expect(text).toContain('| caller ↓ upstream → | chat | messages |\n|---|---|---|')
    expect(text).toContain('| chat | ✓ 1/1 | ✗ 0/2, 1 lost silently |')
    expect(text).toContain('| messages | unsupported | – |')
    expect(text).toContain('- ``a \\| b ` c``')
    expect(text).toContain("- Reproduce with: `interlingua conformance --only 'chat-messages/text/stream'`")
  })

  test('no detail ends its code span or its line, so that no link, image or heading of a target is shown', () => {
    const lines = markdown(resultsWith([check('a-b/c/whole/d', 'fail', { details: ['x'] })])).split('\n')
    const at = lines.indexOf('- `x`')
    const units = [...'`a|<![](# \n\r\u001b\u2028']
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...units), minLength: 1 }), detail => {
        const found = markdown(resultsWith([check('a-b/c/whole/d', 'fail', { details: [detail] })])).split(/\r\n|\r|\n/)
        expect(found.toSpliced(at, 1)).toEqual(lines.toSpliced(at, 1))
        const [, fence = '', inner = ''] = /^- (`+)(?!`)(.*)(?<!`)\1$/.exec(found[at]!) ?? []
        expect(fence).not.toBe('')
        expect(inner.match(/`+/g) ?? []).not.toContain(fence)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: a target must not send any
        expect(inner).not.toMatch(/[\u0000-\u001f\u2028]/)
      }),
    )
  })

  test('no name that a target chose becomes HTML, a link or an image', () => {
    const says = 'The fact tools.<img src=x>![a](http://evil.example) of the request arrives unchanged.'
    const text = markdown(resultsWith([check('a-b/c/whole/d', 'fail', { says })]))
    expect(text).toContain('tools.&lt;img src=x>![a\\](http://evil.example)')
  })
})

describe('what is printed', () => {
  const hostile = '\u001b[2J\u009b1A\n::add-mask::x\r\nFAIL forged\u2028'

  test('has no control character of a target, and no line of its own', () => {
    const failed = check(`a-b/c/whole/${hostile}`, 'fail', { details: [hostile], says: hostile })
    const target = { target: { name: hostile, version: hostile } }
    for (const text of [
      lineOf(failed),
      summary({ ...resultsWith([failed]), ...target }),
      diffText(diffOf({ checks: [] }, { checks: [failed] })),
      deviationText(deviationOf(resultsWith([failed]), [], true)),
    ]) {
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028]/u)
      expect(text.split('\n').filter(line => /^\s*(::|FAIL forged)/.test(line))).toEqual([])
    }
  })
})

test('HTML: the page embeds the checks that did not pass, and no text ends its script', () => {
  const evil = '</script><script>alert(1)</script><!--$&'
  const page = html(
    resultsWith([check('chat-chat/a/whole/b', 'fail', { details: [evil] }), check('chat-chat/a/whole/c', 'pass')]),
  )
  const [, json] = /<script type="application\/json" id="results">(.*?)<\/script>/s.exec(page)!
  const data = JSON.parse(json!)
  expect(data.checks.map(({ details }: Check) => details)).toEqual([[evil]])
  expect(data.cells).toMatchObject([{ id: 'chat-chat/a/whole', passed: 1, judged: 2, worst: 'fail' }])
  expect(page.match(/<script/g)).toHaveLength(2)
  expect(page).not.toMatch(/(?:src|href)="http/)
})

test.each<[string, Check[], object]>([
  ['all pass', [check('a-a/b/whole/c', 'pass')], { message: '1 of 1', color: 'brightgreen' }],
  ['one fails', RESULTS.checks.slice(), { message: '1 of 3', color: 'red' }],
  ['nothing counts', [check('a-a/b/whole/c', 'unsupported')], { message: 'nothing judged', color: 'lightgrey' }],
])('badge: %s', (_, checks, expected) => {
  expect(JSON.parse(badge(resultsWith(checks)))).toEqual({ schemaVersion: 1, label: 'conformance', ...expected })
})

test('a run that was interrupted is no success in a badge or for a CI server', () => {
  const passed = { ...resultsWith([check('a-a/b/whole/c', 'pass')]), interrupted: true as const }
  expect(JSON.parse(badge(passed))).toMatchObject({ message: '1 of 1, interrupted', color: 'lightgrey' })
  expect(junit(passed)).toContain('<error message="The run was interrupted before all cells had run."/>')
})

test('diff: what fails newly, no longer, changed, is new and gone', () => {
  const before = [check('1', 'pass'), check('2', 'fail'), check('3', 'pass'), check('4', 'pass'), check('5', 'fail')]
  const after = [check('1', 'fail'), check('2', 'pass'), check('3', 'advice'), check('6', 'pass'), check('7', 'fail')]
  const difference = diffOf({ checks: before }, { checks: after })
  expect(difference).toEqual({ broken: ['1', '7'], fixed: ['2'], changed: ['3'], added: ['6'], removed: ['4', '5'] })
  expect(diffText(difference)).toContain('Newly failing: 2\n  1\n  7\nNo longer failing: 1')
  expect(diffText(diffOf({ checks: before }, { checks: before }))).toBe('No differences.')
})

test('diff: a cell that was judged and is now unsupported is broken', () => {
  const [judged, missing] = [check('a-a/b/whole/c', 'pass'), check('a-a/b/whole/answer.supported', 'unsupported')]
  const broken = { broken: ['a-a/b/whole/answer.supported'], added: [], removed: ['a-a/b/whole/c'] }
  expect(diffOf({ checks: [judged] }, { checks: [missing] })).toMatchObject(broken)
  expect(diffOf({ checks: [missing] }, { checks: [missing] }).broken).toEqual([])
  expect(diffOf({ checks: [judged, missing] }, { checks: [judged, missing] }).broken).toEqual([])
})

describe('expected failures', () => {
  const FAILED = 'chat-messages/text/stream/stream.done'
  const HARNESS = 'chat-messages/tool/whole/harness'
  const file = `# baseline\n\n${FAILED}  # its maker knows\r\n${HARNESS}\n`

  test('are the ids of lines, without comments', () => expect(readExpected(file)).toEqual([FAILED, HARNESS]))

  test('nothing deviates', () => {
    expect(deviationText(deviationOf(RESULTS, [FAILED, HARNESS], true))).toBe('')
  })

  test('a failure that is not listed, and an entry that does not fail', () => {
    const passed = 'chat-chat/text/whole/answer.http.status'
    const text = deviationText(deviationOf(RESULTS, [FAILED, passed], false))
    expect(text).toBe(`Unexpected failure: ${HARNESS}\nStale entry (the check no longer fails): ${passed}`)
  })

  test('an entry of a cell that did not run is stale in a whole run only', () => {
    const other = [FAILED, HARNESS, 'responses-chat/text/whole/answer.done']
    expect(deviationOf(RESULTS, other, false).stale).toEqual([])
    expect(deviationOf(RESULTS, other, true).stale).toEqual([other[2]])
  })
})
