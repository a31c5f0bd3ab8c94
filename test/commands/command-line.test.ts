import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { DIALECT_FLAGS } from '../../src/formats/dialects/index.ts'
import { CALLER_FORMATS, FORMAT_FACTS } from '../../src/formats/index.ts'
import { MAIN } from '../builders/paths.ts'

let dir: string
let config: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'line-'))
  config = join(dir, 'good.yaml')
  writeFileSync(
    config,
    `data_dir: ${dir}/data
groups: { team: { models: [m] } }
keys: [{ name: fixed, key: fixed-secret }]
channels: [{ name: local, provider: ollama, models: [m], dialect: { custom_tool: true } }]\n`,
  )
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Runs a command line. `config` is added if the words end in `-c`. */
async function run(...words: string[]): Promise<{ code: number; out: string; fault: string }> {
  const out: string[] = []
  const fault: string[] = []
  const terminal = { out: (text: string) => out.push(text), fault: (text: string) => fault.push(text) }
  const code = await commandLine(words.at(-1) === '-c' ? [...words, config] : words, terminal)
  return { code, out: out.join('\n'), fault: fault.join('\n') }
}

const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

describe('the command line', () => {
  it('prints its version and its usage', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(await run('--version')).toMatchObject({ code: 0, out: version })
    const help = await run('--help')
    expect(help).toMatchObject({ code: 0 })
    for (const command of ['serve', 'keys', 'groups', 'admin', 'translate', 'check', 'record', 'replay'])
      expect(help.out).toContain(command)
  })

  it.each([
    [['kyes', 'list'], `unknown command 'kyes'; did you mean "keys"?`],
    [['--colour'], "unknown option '--colour'"],
    [['translate'], "required option '--from <format>' not specified"],
    [['translate', '--from', 'chat', '--to', 'chat', '--kind', 'x'], 'Allowed choices are request, result, events'],
    [['translate', '--from', 'chatt', '--to', 'chat'], `unknown format 'chatt'; did you mean "chat"?`],
    [['keys', 'create'], "missing required argument 'name'"],
    [['serve', '--port', '99999'], 'Expected a port number.'],
  ])('refuses %j as a slip', async (words, message) => {
    const { code, fault } = await run(...words)
    expect(code).toBe(2)
    expect(fault).toContain(message)
  })
})

describe('check', () => {
  it('describes a valid config and its probable mistakes', async () => {
    const { code, out, fault } = await run('check', '-c')
    expect(code).toBe(0)
    expect(out).toContain('1 channel: local (chat, responses, messages')
    expect(fault).toBe(
      'warning: groups: "default" is not declared, so keys in no other group (fixed) may use every model without limits\nwarning: channel local: unknown dialect flag "custom_tool"; did you mean "custom_tools"?',
    )
  })

  it('names the TLS file that cannot be used, as a start does', async () => {
    const config = file('tls.yaml', 'server: { tls: { cert: no.crt, key: no.key } }')
    const { code, fault } = await run('check', '-c', config)
    expect(code).toBe(1)
    expect(fault).toContain('server.tls.cert: no.crt cannot be read: ENOENT')
  })

  it('names the recording that cannot be replayed, as a start does', async () => {
    const folder = join(dir, 'unreadable-recordings')
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.json'), '{"version":1}')
    const channel = (path: string) => file('replay.yaml', `channels: [{ name: a, provider: replay, folder: ${path} }]`)
    expect(await run('check', '-c', channel(folder))).toMatchObject({
      code: 1,
      fault: expect.stringContaining('a.json'),
    })
    expect(await run('check', '-c', channel(join(folder, 'a.json')))).toMatchObject({
      code: 1,
      fault: expect.stringContaining('ENOTDIR'),
    })
  })

  it('warns of a config without channels', async () => {
    const empty = file('empty.yaml', 'channels: []')
    expect(await run('check', '-c', empty)).toEqual({
      code: 0,
      out: `${empty}: valid. 0 channels`,
      fault: 'warning: channels: none are configured, so every request is refused',
    })
  })

  it('takes the file as an argument, which takes precedence over --config', async () => {
    const other = file('other.yaml', 'channels: [{ name: other, provider: ollama }]')
    expect(await run('check', other)).toMatchObject({ code: 0, out: expect.stringContaining(`${other}: valid.`) })
    expect((await run('check', other, '-c')).out).toContain(`${other}: valid.`)
    expect((await run('--config', other, 'check')).out).toContain(`${other}: valid.`)
    expect(await run('check', join(dir, 'none.yaml'))).toMatchObject({ code: 1 })
    expect(await run('check', other, config)).toMatchObject({ code: 2 })
  })

  it('fails for an invalid and for a missing file', async () => {
    const bad = file('bad.yaml', 'server:\n  prot: 1')
    expect(await run('check', '-c', bad)).toMatchObject({
      code: 1,
      fault: `${bad}:2: server.prot: unknown key; did you mean "port"?`,
    })
    expect(await run('check', '-c', join(dir, 'none.yaml'))).toMatchObject({ code: 1 })
  })

  it('prints a JSON Schema that accepts a variable in place of a long secret', async () => {
    const { out } = await run('check', '--schema')
    const { properties } = JSON.parse(out) as { properties: { encryption: { properties: { key: object } } } }
    expect(properties.encryption.properties.key).toMatchObject({ type: 'string', minLength: 1 })
  })

  it('prints a JSON Schema with every field', async () => {
    const { code, out } = await run('check', '--schema')
    const schema = JSON.parse(out) as { properties: { [name: string]: object } }
    expect(code).toBe(0)
    expect(Object.keys(schema.properties).sort()).toEqual(
      [
        'capture',
        'channels',
        'console',
        'data_dir',
        'encryption',
        'groups',
        'keys',
        'media',
        'metrics',
        'models',
        'proxy',
        'realtime',
        'redis',
        'responses',
        'server',
        'store',
        'tasks',
        'thoughts',
        'traces',
        'usage',
      ].sort(),
    )
    expect(schema.properties['channels']).toMatchObject({
      items: { additionalProperties: false, required: ['name', 'provider'] },
    })
  })

  it('prints the meaning and the default of each setting in the JSON Schema', async () => {
    const { out } = await run('check', '--schema')
    const { server, channels } = JSON.parse(out).properties
    expect(server.properties.heartbeat).toMatchObject({
      default: '15s',
      description: expect.stringContaining('silence'),
    })
    expect(channels.items.properties.name).toMatchObject({
      type: 'string',
      description: expect.stringContaining('log'),
    })
  })

  it('prints the formats and dialect flags of the rows in the JSON Schema', async () => {
    const { out } = await run('check', '--schema')
    const { channels, keys, models } = JSON.parse(out).properties
    const { formats, base_url: address, dialect } = channels.items.properties
    expect(formats.items.enum).toEqual([...FORMAT_FACTS.keys()])
    expect(address.anyOf[1].propertyNames.enum).toEqual([...FORMAT_FACTS.keys()])
    expect(keys.items.properties.doors.items.enum).toEqual([...CALLER_FORMATS.keys()])
    expect(Object.keys(dialect.properties)).toEqual([...DIALECT_FLAGS.keys()])
    expect(dialect.properties.limit_field.enum).toEqual(['max_completion_tokens', 'max_tokens'])
    expect(dialect.properties.batch).toMatchObject({ type: 'number', description: expect.stringContaining('cohere') })
    expect(models.additionalProperties.properties.dialect.properties).toEqual(dialect.properties)
  })
})

test('on a Node that runs no TypeScript, a message names the command to start with', () => {
  const { status, stderr } = spawnSync(process.execPath, ['--no-strip-types', MAIN, '--version'], { encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('npm start') })
})

describe('translate', () => {
  const chat = ['translate', '--from', 'chat', '--to', 'chat']

  it('prints the wire value and its losses', async () => {
    const request = file('request.json', '{"model":"m","messages":[{"role":"user","content":"Hi."}],"top_k":3}')
    const { code, out } = await run(...chat, request)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      wire: { path: '/chat/completions', body: { model: 'm', messages: [{ role: 'user', content: 'Hi.' }], top_k: 3 } },
      losses: [],
    })
    const renamed = await run(...chat, request, '--model', 'other')
    expect(JSON.parse(renamed.out)).toMatchObject({ wire: { body: { model: 'other' } } })
  })

  it.each([
    ['contents', 'embeddings', '{"content":{"parts":[{"text":"hello"}]}}', { input: ['hello'] }],
    ['contents', 'cohere', '{"requests":[{"content":{"parts":[{"text":"hello"}]}}]}', { texts: ['hello'] }],
    ['cohere', 'embeddings', '{"model":"m","input_type":"search_query","texts":["hello"]}', { input: ['hello'] }],
    ['cohere', 'rerank', '{"model":"m","query":"q","documents":["hello"]}', { query: 'q', documents: ['hello'] }],
  ])('takes a body of %s for what its own field says, as %s', async (from, to, body, said) => {
    const { code, out } = await run('translate', '--from', from, '--to', to, '--model', 'm', file('body.json', body))
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ wire: { body: said } })
  })

  it('takes a form whose files are in base64', async () => {
    const form = 'fixtures/transcriptions/hello.request.json'
    const [{ bytes }] = JSON.parse(readFileSync(form, 'utf8')).files
    for (const to of ['chat', 'contents', 'deepgram', 'transcriptions'])
      expect((await run('translate', '--from', 'transcriptions', '--to', to, form)).out).toContain(bytes)
  })

  it('takes results and streams', async () => {
    const result = await run(...chat, '--kind', 'result', 'fixtures/chat/hello.result.json')
    expect(JSON.parse(result.out)).toMatchObject({ wire: { status: 200, body: { id: 'chatcmpl-hello' } } })
    const events = await run(...chat, '--kind', 'events', 'fixtures/chat/hello.events.sse')
    expect((JSON.parse(events.out) as { wire: unknown[] }).wire.at(-1)).toEqual({ data: '[DONE]' })
  })

  it('writes the output that the answered request asks for', async () => {
    const asked = file(
      'asked.json',
      '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}',
    )
    const { out } = await run(...chat, '--kind', 'events', '--asked', asked, 'fixtures/chat/hello.events.sse')
    expect(out).toContain('\\"usage\\":{\\"prompt_tokens\\":9')
  })

  it('fails for input that is not of the stated kind', async () => {
    expect(await run(...chat, file('broken.json', '{'))).toMatchObject({ code: 1 })
    expect((await run(...chat, file('list.json', '[]'))).fault).toContain('not a JSON object')
    expect((await run(...chat, file('wrong.json', '{"model":"m","messages":3}'))).fault).toContain('messages')
    expect(await run(...chat, join(dir, 'none.json'))).toMatchObject({ code: 1 })
  })
})

describe('replay', () => {
  it('fails on a folder without fixtures', async () => {
    expect(await run('replay', dir, '--port', '0')).toMatchObject({ code: 1 })
  })
})
