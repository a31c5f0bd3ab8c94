import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandLine } from '../../../src/commands/command-line.ts'
import { secretsIn, secretsOf } from '../../../src/kit/conformance/configured-secrets.ts'
import { peerNames, readPeer } from '../../../src/kit/conformance/peer.ts'

/* No report shows a secret of a peer's configuration, even if the peer repeats it everywhere. */

const PLANTED = {
  env: 'env-4f9Zq7xYwPlanted',
  header: 'header-8Kd2mPlanted1',
  inHeader: 'inner-Qp0v3Planted22',
  file: 'file-Zx81uPlanted333',
  option: 'option-Lm5rPlanted44',
  password: 'word-Tn6ePlanted5555',
} as const

/** A gateway that says everything it knows: in its version, its answers, its requests and its errors. */
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
const known = headers => JSON.stringify([process.env, process.argv, headers, readFileSync(process.argv[3], 'utf8')])
console.error(known({}))
if (process.argv[2] === '--version') console.log(known({}).slice(-400))
else if (process.argv[2] === '0') process.exit(3)
else createServer(async (message, reply) => {
  const text = known(message.headers)
  if (message.url === '/health') return reply.end()
  const upstream = message.headers['x-upstream']
  const headers = { 'content-type': 'application/json', 'x-known': Buffer.from(text).toString('base64').slice(0, 3000) }
  await fetch(upstream + '/chat/completions', { method: 'POST', headers, body: JSON.stringify({ model: text, messages: [] }) })
  reply.writeHead(200, headers).end(JSON.stringify({ error: text, choices: [{ message: { content: encodeURIComponent(text) } }] }))
}).listen(Number(process.argv[2]), '127.0.0.1')
`

function folderOf(port: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-planted-'))
  const program = join(folder, 'program.mjs')
  writeFileSync(program, PROGRAM)
  writeFileSync(
    join(folder, 'config.yaml'),
    `master_key: "${PLANTED.file}"\nstore: postgres://kit:${PLANTED.password}@127.0.0.1/kit\nkeys: ["\${key}"]\n`,
  )
  writeFileSync(
    join(folder, 'peer.yaml'),
    `name: talkative
version: { command: ["\${node}", "${program}", --version, "\${folder}/config.yaml"] }
start:
  command: ["\${node}", "${program}", "${port}", "\${folder}/config.yaml", --admin-token, ${PLANTED.option}]
  env: { PROVIDER_API_KEY: ${PLANTED.env} }
files: { config.yaml: config.yaml }
health: /health
callers: { chat: /v1 }
headers:
  chat:
    x-upstream: "\${upstream.chat}"
    x-account-token: Bearer ${PLANTED.header}
    x-config: '{"provider":"a","api_key":"${PLANTED.inHeader}"}'
`,
  )
  return folder
}

/** No eight characters of a secret in sequence, plain or encoded. */
function expectClean(text: string): void {
  for (const secret of Object.values(PLANTED))
    for (const form of [secret, Buffer.from(secret).toString('base64').slice(0, -4)])
      for (let at = 0; at + 8 <= form.length; at++) expect(text).not.toContain(form.slice(at, at + 8))
}

describe('a talkative gateway', () => {
  test('leaves no secret in any report', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conformance-planted-'))
    const views = ['json', 'html', 'junit', 'markdown', 'badge'].flatMap(view => [`--${view}`, join(folder, view)])
    let printed = ''
    const print = (text: string) => (printed += `${text}\n`)
    const args = ['conformance', '--peer', folderOf(`\${port}`), '--only', '*/text/*']
    expect(await commandLine([...args, ...views], { out: print, fault: print })).toBe(1)
    expect(printed).toContain('FAIL')
    expectClean(printed)
    for (const view of readdirSync(folder)) expectClean(readFileSync(join(folder, view), 'utf8'))
    expect(readFileSync(join(folder, 'json'), 'utf8')).toContain('[key]')
  })

  test('leaves none in what is printed if it does not start', async () => {
    let printed = ''
    const print = (text: string) => (printed += `${text}\n`)
    const code = await commandLine(['conformance', '--peer', folderOf('0')], { out: print, fault: print })
    expect(code).toBe(1)
    expect(printed).toContain('The peer exited with 3')
    expectClean(printed)
  })
})

test.each([
  ['master_key: "sk-planted-1"', ['sk-planted-1']],
  ['{"api_key":"sk-planted-1","url":"x"}', ['sk-planted-1']],
  [String.raw`'{\"apiKey\":\"sk-planted-1\"}'`, ['sk-planted-1']],
  ['ANTHROPIC_API_KEY=sk-planted-1', ['sk-planted-1']],
  ['Authorization: Bearer sk-planted-1', ['sk-planted-1']],
  ['--api-key sk-planted-1 --port 1', ['sk-planted-1']],
  ['redis://:sk-planted-1@127.0.0.1:1', ['sk-planted-1']],
  [`key: "\${upstream_key}"`, []],
  ['token_url: http://127.0.0.1:4000/token', []],
  ['max_token: 100000000\nauth: none', []],
])('secrets in %s', (text, secrets) => {
  expect(secretsIn(text)).toEqual(secrets)
})

test.each(peerNames())('%s is configured with the kit’s own keys alone', name => {
  const peer = readPeer(name)
  const files = Object.values(peer.files).map(file => readFileSync(join(peer.folder, file), 'utf8'))
  expect(secretsOf(peer, files)).toEqual([])
})
