import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { Client, Format, Language, Snippet, Values } from '../../../console/src/pages/start/clients/client.ts'
import { CLIENTS } from '../../../console/src/pages/start/clients/index.ts'

const BASE = 'https://ai.example.com'
const SECRET = 'il-0123456789abcdefghij'
/** Hostile names: operators and upstreams choose names, and each must stay text in any snippet. */
const MODELS = ['gpt-5.6', 'vendor/model:free', `a'b"c $(touch pwned) \`touch pwned\` \\ \${x} #{y} é\u202e`]

interface Written {
  readonly client: Client
  readonly values: Values
  readonly snippets: readonly Snippet[]
}

const written = (model: string): readonly Written[] =>
  CLIENTS.flatMap(client =>
    client.formats.flatMap(format =>
      (client.languages ?? ['python' as Language]).map(language => {
        const values = { base: BASE, secret: SECRET, model, format, language }
        return { client, values, snippets: client.write(values) }
      }),
    ),
  )

const all = MODELS.flatMap(written)
const of = (syntax: Snippet['syntax']) =>
  all.flatMap(({ client, values, snippets }) =>
    snippets
      .filter(one => one.syntax === syntax && one.role !== 'install')
      .map(({ text }) => ({ client, values, text })),
  )

/** Runs a program with a text as input and returns its output. */
function printed(program: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
  expect([stderr, status]).toEqual(['', 0])
  return stdout
}

/** Each Python program handles all texts in one run, because starting Python takes longest. */
const inPython = (script: string, texts: readonly string[]) =>
  JSON.parse(
    printed('python3', ['-c', `import ast, json, sys\ntexts = json.load(sys.stdin)\n${script}`], JSON.stringify(texts)),
  )

const hasPython = spawnSync('python3', ['-c', 'import tomllib']).status === 0

describe('settings of clients', () => {
  test('every client has its address, the key and the model in its settings', () => {
    expect(CLIENTS.map(({ id }) => id)).toEqual([
      ...['claude-code', 'codex', 'gemini-cli', 'opencode'],
      ...['openai', 'anthropic', 'google', 'ai-sdk', 'langchain', 'curl'],
    ])
    for (const { client, values, snippets } of written('gpt-5.6')) {
      const text = snippets.map(one => one.text).join('')
      for (const part of [BASE, SECRET, 'gpt-5.6'])
        expect([client.id, values.format, text]).toEqual([client.id, values.format, expect.stringContaining(part)])
    }
  })

  test('JSON is JSON, with the model in its place', () => {
    for (const { client, values, text } of of('json')) {
      const json = JSON.parse(text)
      if (client.id === 'claude-code')
        expect(json.env).toMatchObject({
          ANTHROPIC_BASE_URL: BASE,
          ANTHROPIC_AUTH_TOKEN: SECRET,
          ANTHROPIC_MODEL: values.model,
        })
      if (client.id === 'opencode') {
        const { options, models } = json.provider.interlingua
        expect(options).toEqual({
          baseURL: expect.stringMatching(/^https:\/\/ai\.example\.com\/v1(beta)?$/),
          apiKey: SECRET,
        })
        expect(Object.keys(models)).toEqual([values.model])
      }
    }
  })

  test.skipIf(!hasPython)('TOML is TOML', () => {
    const tomls = of('toml')
    const read = inPython(
      'import tomllib\nprint(json.dumps([tomllib.loads(one) for one in texts]))',
      tomls.map(one => one.text),
    )
    expect(read).toEqual(
      tomls.map(({ values }) => ({
        ...{ model_provider: 'interlingua', model: values.model },
        model_providers: { interlingua: expect.objectContaining({ base_url: `${BASE}/v1`, wire_api: 'responses' }) },
      })),
    )
  })

  test.skipIf(!hasPython)('Python is Python, and its strings are the values', () => {
    const programs = of('python')
    const strings = `print(json.dumps([[n.value for n in ast.walk(ast.parse(one)) if isinstance(n, ast.Constant)] for one in texts]))`
    const read = inPython(
      strings,
      programs.map(one => one.text),
    ) as unknown[][]
    for (const [at, { values }] of programs.entries())
      expect(read[at]).toEqual(expect.arrayContaining([values.model, values.secret, expect.stringMatching(`^${BASE}`)]))
  })

  test('TypeScript is a module, and its strings are the values', async () => {
    for (const { values, text } of of('typescript')) {
      const calls = await evaluated(text)
      expect(calls).toContain(JSON.stringify(values.model))
      expect(calls).toContain(JSON.stringify(values.secret))
      expect(calls).toContain(`"${BASE}`)
    }
  })

  test('a shell does what is meant, and nothing else', () => {
    for (const { client, values, text } of of('shell')) {
      const names = ['claude', 'codex', 'gemini', 'opencode', 'curl']
      const stand = names.map(name => `${name}() { printf '%s\\0' "$@"; env -0; }\n`).join('')
      const words = printed('sh', ['-euc', stand + text]).split('\0')
      const wanted: { readonly [id: string]: readonly string[] } = {
        'claude-code': [
          `ANTHROPIC_BASE_URL=${BASE}`,
          `ANTHROPIC_AUTH_TOKEN=${SECRET}`,
          `ANTHROPIC_MODEL=${values.model}`,
        ],
        codex: [`INTERLINGUA_KEY=${SECRET}`],
        'gemini-cli': [`GOOGLE_GEMINI_BASE_URL=${BASE}`, `GEMINI_API_KEY=${SECRET}`, values.model],
        opencode: [`interlingua/${values.model}`],
        curl: [KEYS[values.format]],
      }
      expect(words).toEqual(expect.arrayContaining([...wanted[client.id]!]))
      if (client.id === 'curl') checkCurl(words, values)
    }
  })
})

const KEYS: { readonly [F in Format]: string } = {
  ...{ chat: `authorization: Bearer ${SECRET}`, responses: `authorization: Bearer ${SECRET}` },
  ...{ messages: `x-api-key: ${SECRET}`, contents: `x-goog-api-key: ${SECRET}` },
}

function checkCurl(words: readonly string[], { format, model }: Values): void {
  const body = JSON.parse(words[words.indexOf('-d') + 1]!)
  if (format !== 'contents') return expect(body.model).toBe(model)
  const path = new URL(words[0]!).pathname
  expect(decodeURIComponent(path)).toBe(`/v1beta/models/${model}:generateContent`)
}

/** Runs a program with fake packages and returns all arguments they received, as JSON. */
async function evaluated(text: string): Promise<string> {
  const given: unknown[] = []
  const noted = (args: readonly unknown[]): unknown => {
    given.push(...args)
    return pass(args)
  }
  const pass = (value: unknown): unknown =>
    new Proxy(function anything() {}, {
      get: (_, name) => (name === 'then' ? undefined : pass(value)),
      apply: (_, __, args) => noted(args),
      construct: (_, args) => noted(args) as object,
    })
  const body = text.replaceAll(
    /^import (?:\{ (\w+) \}|(\w+)) from "[^"]+";$/gm,
    (_, one, other) => `const ${one ?? other} = anything;`,
  )
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (...args: unknown[]) => Promise<void>
  await new AsyncFunction('anything', 'console', body)(pass(undefined), { log: () => {} })
  return JSON.stringify(given, (_, value) => (typeof value === 'function' ? undefined : value))
}
