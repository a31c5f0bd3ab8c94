import { execFileSync, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GatewayError } from '../../../src/canonical/error.ts'
import { AccessToken } from '../../../src/upstreams/credentials/access-token.ts'
import { tokenSourceOf } from '../../../src/upstreams/credentials/index.ts'
import { opener } from '../../builders/opener.ts'
import { ENV, MAIN } from '../../builders/paths.ts'

/* Files of credentials that are half written, replaced, created late, huge, folders, pipes or devices. */

const { openUpstream } = opener()
const root = mkdtempSync(join(tmpdir(), 'credential-files-'))
afterAll(() => rmSync(root, { recursive: true }))
let count = 0
const newPath = (): string => join(root, `file-${++count}`)

const failure = async (source: () => Promise<unknown>): Promise<string> =>
  source().then(
    () => expect.fail('a token'),
    (thrown: GatewayError) => thrown.error.message,
  )

/** What stands in the place of a file, and how an error names it. */
const NO_FILES: readonly (readonly [name: string, make: (path: string) => void, message: RegExp])[] = [
  ['is missing', () => {}, /cannot be read: ENOENT/],
  ['is a folder', path => mkdirSync(path), /is no regular file/],
  ['is a pipe', path => void execFileSync('mkfifo', [path]), /is no regular file/],
  ['is a device', path => symlinkSync('/dev/zero', path), /is no regular file/],
  ['is a link to itself', path => symlinkSync(path, path), /cannot be read: ELOOP/],
  [
    'is huge',
    path => {
      writeFileSync(path, '')
      truncateSync(path, 2 ** 31)
    },
    /is too large: 2147483648 bytes/,
  ],
]

describe('the assertion of a workload', () => {
  async function workload() {
    const server = await openUpstream(response => response.end('{"access_token":"t","expires_in":3600}'))
    const tokenFile = newPath()
    const auth = { tenant: 't', clientId: 'app', tokenFile, authority: server.address, scope: 's' }
    const source = tokenSourceOf({ type: 'azure-workload', ...auth }, undefined)
    const assertions = () => server.seen.map(({ text }) => new URLSearchParams(text).get('client_assertion'))
    return { tokenFile, source, assertions }
  }

  test.each(NO_FILES)('that %s is a fault that names the cause, and no request', async (_, make, message) => {
    const { tokenFile, source, assertions } = await workload()
    make(tokenFile)
    expect(await failure(source)).toMatch(message)
    expect(assertions()).toEqual([])
  })

  test.each([
    ['empty', ''],
    ['only the end of a line', '\n'],
    ['of several lines', 'eyJh.eyJh\nbGci.c2ln'],
    ['with bytes that are no text', Buffer.from([0x65, 0xff, 0x00, 0x65])],
  ])('that is %s is not sent, because the file is still being written', async (_, content) => {
    const { tokenFile, source, assertions } = await workload()
    writeFileSync(tokenFile, content)
    expect(await failure(source)).toBe('The token file of the workload identity contains no assertion.')
    writeFileSync(tokenFile, 'eyJh.eyJh.c2ln\n')
    await source()
    expect(assertions()).toEqual(['eyJh.eyJh.c2ln'])
  })

  test('is that of the folder to which the link of the platform leads now', async () => {
    const { source, tokenFile, assertions } = await workload()
    const folder = newPath()
    mkdirSync(folder)
    for (const name of ['first', 'second']) {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'token'), name)
    }
    const data = join(folder, '..data')
    symlinkSync('first', data)
    symlinkSync(join(data, 'token'), tokenFile)
    await source()
    symlinkSync('second', join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), data)
    await source()
    expect(assertions()).toEqual(['first', 'second'])
  })
})

describe('the key file of a service account, and certificates', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const account = JSON.stringify({
    ...{ type: 'service_account', client_email: 'g@p.iam.gserviceaccount.com' },
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  })

  /** Checks a config in a process of its own, because reading a pipe would stop this one. */
  function check(fields: string): string {
    const file = newPath()
    writeFileSync(file, `channels: [{ name: c, provider: vertex, project: p, region: r, models: [m], ${fields} }]`)
    const { stdout, stderr, signal } = spawnSync(process.execPath, [MAIN, 'check', file], {
      ...{ env: ENV, encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
    })
    expect(signal, 'the check hangs').toBeNull()
    return stdout + stderr
  }

  test('that are no files are faults that name the cause', { timeout: 120_000 }, () => {
    const pipe = newPath()
    execFileSync('mkfifo', [pipe])
    const printed = check(`auth: { type: google-service-account, file: "${pipe}" }, tls: { ca: /dev/zero }`)
    expect(printed).toMatch(/auth\.file: is no regular file/)
    expect(printed).toMatch(/tls\.ca: is no regular file/)
  })

  test('cut at any place is a fault that shows nothing of it', async () => {
    const { readConfig } = await import('../../../src/config/read.ts')
    const file = newPath()
    const text = `channels: [{ name: c, provider: vertex, project: p, region: r, models: [m], auth: { type: google-service-account, file: "${file}" } }]`
    for (let end = 0; end < account.length; end += 37) {
      writeFileSync(file, account.slice(0, end))
      expect(() => readConfig(text, {}), `cut at ${end}`).toThrow(
        /auth\.file: is not the key file of a service account$/,
      )
    }
    writeFileSync(file, account)
    expect(readConfig(text, {}).channels[0]!.auth).toMatchObject({ account: { email: 'g@p.iam.gserviceaccount.com' } })
  })
})

describe('the files of AWS', () => {
  let file = ''
  beforeEach(() => {
    file = newPath()
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', file)
    vi.stubEnv('AWS_CONFIG_FILE', `${file}-config`)
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'])
      vi.stubEnv(name, undefined)
  })
  afterEach(() => vi.unstubAllEnvs())

  const source = tokenSourceOf({ type: 'aws-default', region: 'r', service: 's' }, undefined)
  const keysOf = (access: string, secret: string): string =>
    `[default]\naws_access_key_id = ${access}\naws_secret_access_key = ${secret}\n`
  const accessIn = ({ text }: { readonly text: string }): string => JSON.parse(text).accessKeyId

  test('are read again when their keys are replaced', async () => {
    writeFileSync(file, keysOf('AKIDFIRST', 'first'))
    expect(accessIn(await source())).toBe('AKIDFIRST')
    const next = newPath()
    writeFileSync(next, keysOf('AKIDSECOND', 'second'))
    renameSync(next, file)
    expect(accessIn(await source())).toBe('AKIDSECOND')
  })

  test('that were refused, because they were half written, are read again', async () => {
    writeFileSync(file, keysOf('AKIDFIRST', 'first').slice(0, -4))
    const token = new AccessToken(source)
    await token.ready()
    const half = token.text
    writeFileSync(file, keysOf('AKIDFIRST', 'first'))
    token.refused(half)
    await token.ready()
    expect(JSON.parse(token.text!)).toMatchObject({ secretAccessKey: 'first' })
  })

  test.each(NO_FILES.filter(([name]) => !/pipe|device|huge/.test(name)))(
    'may turn up later in a place that %s',
    async (_, make) => {
      make(file)
      expect(await failure(source)).toMatch(/^AWS's default credentials returned no keys/)
      rmSync(file, { recursive: true, force: true })
      writeFileSync(file, keysOf('AKIDLATE', 'late'))
      expect(accessIn(await source())).toBe('AKIDLATE')
    },
  )

  test('without the secret are no keys', async () => {
    writeFileSync(file, '[default]\naws_access_key_id = AKIDHALF\n')
    expect(await failure(source)).toMatch(/^AWS's default credentials returned no keys/)
  })

  test('whose process states an expiry that is no time are read again', async () => {
    const printed = JSON.stringify({
      ...{ Version: 1, AccessKeyId: 'AKIDPROCESS', SecretAccessKey: 's', Expiration: 'soon' },
    })
    writeFileSync(file, `[default]\ncredential_process = echo '${printed}'\n`)
    let now = Date.now()
    let asked = 0
    const counted = () => {
      asked++
      return source()
    }
    const token = new AccessToken(counted, undefined, () => now)
    await token.ready()
    now += 86_400_000
    await token.ready()
    expect(asked).toBe(2)
  })
})
