// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in a config look like that
import { expect, test } from 'vitest'
import { importConfig } from '../../src/config/imports/index.ts'
import { ConfigError } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'

const SECRET = 'k9Zq7mPw2LxT'

/** Spellings of the secret S that YAML reads as something else than a text, or as no YAML at all. */
const SPELLINGS = [
  ...['*S', '&S', '!S', '!!S', '%S', '@S', '`S', '|S', '>S', '[S', '{S', '{S: ', '}S', ']S', ',S', '#S', '- S', '? S'],
  ...['"S', "'S", '"S"S', "'S'S", '"\\S"', '"x\\qS"', 'S: x', 'S #x', '&a S S', '*a S', '!<S>', '!a!S', '{a: S]'],
  ...['[S}', '[S, S', '"a" S', '*S S: a', '|\n S', '&S *S', 'S:\n   - a\n  b', '<<: S', '[*S]', '{*S : 1}', '{{S}}'],
  ...['a\n S: x\nS', '\tS', '"\tS', "'\nS", '---S', '...S', '--- S\n--- S', '{? S}', '[? S]', '!!int S', '!!set {S}'],
  ...['!!binary S', '!!bool S', '!!merge S', '!!map S', 'S\0', '\u0007S', '$${S}', '${S:-x}', '${S'],
]

/** Places V of a config for secrets. */
const PLACES = [
  'channels:\n  - name: a\n    provider: openai\n    key: V\n',
  'channels:\n  - { name: a, provider: openai, key: V }\n',
  'channels:\n  - name: a\n    provider: openai\n    auth:\n      aws:\n        secret: V\n',
  'channels:\n  - name: a\n    provider: openai\n    key: V: b\n  c',
  'keys:\n  - name: x\n    key: V\n',
  'metrics:\n  key: V\n  host: 1\n',
  'traces:\n  otlp: http://a\n  headers:\n    authorization: V\n',
  'redis: V\n',
]

/** Returns the message of the error that reading ends with, or an empty text. */
function faultOf(read: () => unknown): string {
  try {
    read()
    return ''
  } catch (thrown) {
    return `${(thrown as Error).message} ${thrown instanceof ConfigError ? JSON.stringify(thrown.faults) : ''}`
  }
}

const texts = PLACES.flatMap(place =>
  SPELLINGS.map(spelling => place.replaceAll('V', () => spelling.replaceAll('S', () => SECRET))),
)

test('no fault of a config shows a secret, however YAML misreads it', () => {
  const shown = texts.filter(text => faultOf(() => readConfig(text, {})).includes(SECRET))
  // Of a map, unknown keys are named, and variables always are.
  expect(shown.filter(text => !text.includes('${') && !/(^|\n)k9/.test(text))).toEqual([])
})

test('no fault of an import shows a secret, however YAML misreads it', () => {
  for (const text of texts)
    expect(
      faultOf(() => importConfig('litellm', text, 'file')),
      text,
    ).not.toContain(SECRET)
})

test('a fault names the line, and a tag is none', () => {
  expect(() => readConfig('keys:\n  - name: a\n    key: *abc\n', {})).toThrow(
    'interlingua.yaml:3: Unresolved alias (the anchor must be set before the alias)',
  )
  expect(() => readConfig('metrics:\n  key: !ENV METRICS_KEY\n', {})).toThrow(
    'interlingua.yaml:2: a tag such as `!name` has no meaning here: write a text in quotes, and a variable as ${NAME}',
  )
  expect(() => importConfig('litellm', 'a: 1\nb: "x', 'file')).toThrow('file is neither YAML nor JSON: line 2: ')
})

test('a template is no key of a map', () => {
  expect(() => readConfig('metrics:\n  key: {{ metrics_key }}\n', {})).toThrow(
    'interlingua.yaml:2: Map keys must be texts',
  )
})
