/*
 * Starts the gateway once in an empty folder, sends it requests of its built-in provider and ends it. Later starts by the
 * same user with the same options of Node read the compiled code that it leaves in the cache. Ends with 1 if the gateway
 * does not start or answer.
 */
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

/** Maximum time of the whole, in milliseconds. */
const LONGEST = 20_000
const KEY = 'il-warm-up-0123456789abcdef0123456789'

const TEXT = 'Say hello.'
const CHAT = { model: 'replay', messages: [{ role: 'user', content: TEXT }] }
const MESSAGES = { ...CHAT, max_tokens: 100 }
const RESPONSES = { model: 'replay', input: TEXT }
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: TEXT }] }] }

/** One whole and one streamed request of each conversation format. */
const REQUESTS = [
  ['/v1/chat/completions', CHAT],
  ['/v1/chat/completions', { ...CHAT, stream: true }],
  ['/v1/messages', MESSAGES],
  ['/v1/messages', { ...MESSAGES, stream: true }],
  ['/v1/responses', RESPONSES],
  ['/v1/responses', { ...RESPONSES, stream: true }],
  ['/v1beta/models/replay:generateContent', CONTENTS],
  ['/v1beta/models/replay:streamGenerateContent?alt=sse', CONTENTS],
]

async function request(address, [path, body]) {
  const answer = await fetch(address + path, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
}

/** Resolves with the address that the gateway prints when it listens. */
function addressOf(gateway) {
  return new Promise((resolve, reject) => {
    let printed = ''
    gateway.stdout.on('data', piece => {
      printed += piece
      const found = /listens on (\S+)/.exec(printed)
      if (found !== null) resolve(found[1])
    })
    gateway.once('exit', () => reject(new Error(`it does not start:\n${printed}`)))
  })
}

async function warmUp(folder) {
  const config = join(folder, 'interlingua.json')
  writeFileSync(
    config,
    JSON.stringify({
      data_dir: join(folder, 'data'),
      groups: { default: { models: ['*'] } },
      keys: [{ name: 'warm-up', key: KEY }],
      channels: [{ name: 'replay', provider: 'replay', models: ['*'] }],
    }),
  )
  const gateway = spawn(
    process.execPath,
    [...process.execArgv, join(__dirname, 'interlingua.js'), '--config', config, 'serve', '--port', '0'],
    { cwd: folder, env: { HOME: folder, PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const late = setTimeout(() => gateway.kill('SIGKILL'), LONGEST)
  const ended = once(gateway, 'exit')
  try {
    const address = await addressOf(gateway)
    for (const one of REQUESTS) await request(address, one)
  } finally {
    gateway.kill('SIGINT')
    await ended
    clearTimeout(late)
  }
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-'))
  try {
    await warmUp(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

main().catch(fault => {
  console.error(fault.message)
  process.exitCode = 1
})
