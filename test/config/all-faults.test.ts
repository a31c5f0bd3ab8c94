import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ConfigError } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'

/** The faults of a config, as `line path: message`. */
function faultsOf(lines: readonly string[]): string[] {
  try {
    readConfig(lines.join('\n'), {})
    return []
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    return thrown.faults.map(({ line, path, message }) => `${line} ${path}: ${message}`)
  }
}

it('unknown fields hide nothing: neither each other, nor wrong values, nor references that lead nowhere', () => {
  const lines = [
    'sever: { port: 1 }',
    'stoer: x',
    'server: { prot: 1, hots: x, port: many, limits: { doors: { chatt: 1MiB } } }',
    'keys:',
    '  - 7',
    '  - { nam: a, key: b, group: tema }',
    'groups: { team: { rmp: 1, doors: [chat, masages] }, broken: 7 }',
    'channels:',
    '  - { name: c, provider: opnai, modles: [m] }',
    '  - { provider: custom, wieght: 2 }',
  ]
  expect(faultsOf(lines)).toEqual([
    '1 sever: unknown key; did you mean "server"?',
    '2 stoer: unknown key; did you mean "store"?',
    '3 server.port: expected a port, found "many"',
    '3 server.prot: unknown key; did you mean "port"?',
    '3 server.hots: unknown key; did you mean "host"?',
    '3 server.limits.doors.chatt: unknown format; did you mean "chat"?',
    '5 keys[0]: expected a map, found 7',
    '6 keys[1].name: is missing',
    '6 keys[1].nam: unknown key; did you mean "name"?',
    '6 keys[1].group: no group "tema"; did you mean "team"?',
    '7 groups.team.rmp: unknown key; did you mean "rpm"?',
    '7 groups.broken: expected a map, found 7',
    '7 groups.team.doors[1]: unknown format; did you mean "messages"?',
    '9 channels[0].modles: unknown key; did you mean "models"?',
    '9 channels[0].provider: unknown provider "opnai"; did you mean "openai"?',
    '10 channels[1].name: is missing',
    '10 channels[1].wieght: unknown key; did you mean "weight"?',
    '10 channels[1].formats: is missing: list the formats of this upstream, best first',
  ])
})

it('a group that is faulty itself is not also missing', () => {
  expect(faultsOf(['groups: { team: 7 }', 'keys: [{ name: a, key: b, group: team }]'])).toEqual([
    '1 groups.team: expected a map, found 7',
  ])
  expect(faultsOf(['groups: 7', 'keys: [{ name: a, key: b, group: team }]'])).toEqual([
    '1 groups: expected a map, found 7',
  ])
})

/** Lines that are right, or wrong in independent ways. */
const LINES: readonly (readonly [right: string, ...wrong: string[]])[] = [
  ['data_dir: ./data', 'data_dri: ./data', 'data_dir: []'],
  ['server: { port: 1 }', 'server: { prt: 1, hots: x }', 'server: { workers: none }', 'server: 7'],
  ['metrics: { port: 2 }', 'metrics: { host: [], prt: 1 }', 'metrics: []'],
  ['console: { session: 1h }', 'console: { sesion: 1h, idel: 1h }', 'console: { oidc: { issuer: http://x } }'],
  ['traces: { otlp: http://x }', 'traces: { oltp: http://x }', 'traces: { otlp: nowhere, sample: 2 }'],
  ['groups:'],
  ['  team: { rpm: 1 }', '  team: { rmp: 1 }', '  team: { doors: [chatt], rpm: x }', '  team: 7'],
  ['  other: { tpm: 1 }', '  other: []', '  other: { budget: { dya: 1 } }'],
  ['keys:'],
  [
    '  - { name: a, key: a1 }',
    '  - { nam: a, key: a1 }',
    '  - { name: a }',
    '  - 7',
    '  - { name: a, key: a1, group: x }',
  ],
  ['  - { name: b, key: b1 }', '  - { name: b, key: "b 1" }', '  - []', '  - { name: b, key: b1, doors: [x], rmp: 1 }'],
  ['channels:'],
  ['  - { name: c, provider: ollama }', '  - { name: c }', '  - 7', '  - { name: c, provider: olama, modles: [] }'],
  ['  - { name: d, provider: ollama }', '  - { name: d, provider: openai }', '  - { name: d, provider: custom, x: 1 }'],
]

it('a config with several faults reports exactly those that each of them alone has', () => {
  const right = LINES.map(([line]) => line)
  const wrong = fc.tuple(...LINES.map(choices => fc.nat(choices.length - 1)))
  fc.assert(
    fc.property(wrong, chosen => {
      const alone = chosen.flatMap((choice, at) => (choice === 0 ? [] : faultsOf(right.with(at, LINES[at]![choice]!))))
      expect(faultsOf(LINES.map((choices, at) => choices[chosen[at]!]!)).sort()).toEqual(alone.sort())
    }),
    { numRuns: 300 },
  )
})
