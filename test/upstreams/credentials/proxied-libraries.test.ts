import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ChannelAuth } from '../../../src/config/auth.ts'
import { environmentProxy, namedProxy } from '../../../src/config/proxy.ts'
import type { ProxyConfig } from '../../../src/config/types.ts'
import { tokenSourceOf } from '../../../src/upstreams/credentials/index.ts'
import { opener } from '../../builders/opener.ts'
import type { Script } from '../../builders/upstream.ts'

/* The libraries for default credentials where token servers are reached through the proxy of the config only. */

const { closing, openUpstream } = opener()
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'proxied-libraries-'))
  const env = {
    ...{ HOME: home, AWS_CONFIG_FILE: join(home, 'config'), AWS_SHARED_CREDENTIALS_FILE: join(home, 'credentials') },
    ...{ AWS_EC2_METADATA_DISABLED: 'true', AWS_REGION: '', AWS_PROFILE: '', CLOUDSDK_CONFIG: home },
    ...{ HTTPS_PROXY: '', HTTP_PROXY: '', NO_PROXY: '', https_proxy: '', http_proxy: '', no_proxy: '' },
  }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value === '' ? undefined : value)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true })
})

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString()

/** A proxy that answers in the name of every host. It sees whole addresses. */
const everyHost: Script = (response, { url, text }) => {
  if (url.startsWith('http://sts.')) {
    const action = new URLSearchParams(text).get('Action')!
    response.writeHead(200, { 'content-type': 'text/xml' })
    return response.end(`<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>
      <AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
      <Expiration>${inAnHour()}</Expiration></Credentials></${action}Result></${action}Response>`)
  }
  const answer = url.startsWith('http://sso.')
    ? {
        roleCredentials: {
          accessKeyId: 'ASIASSO',
          secretAccessKey: 's',
          sessionToken: 't',
          expiration: Date.now() + 9e5,
        },
      }
    : { access_token: `token from ${new URL(url).host}`.replaceAll(' ', '-'), expires_in: 3600, token_type: 'Bearer' }
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

const textOf = async (auth: ChannelAuth, proxy: ProxyConfig | undefined): Promise<string> =>
  (await tokenSourceOf(auth, proxy)()).text

/** A proxy that opens no tunnel, so that nothing leaves this machine. */
async function openRefusingProxy(): Promise<{ readonly address: string; readonly tunnels: string[] }> {
  const tunnels: string[] = []
  const server = createServer().on('connect', ({ url }, socket) => {
    tunnels.push(url!)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tunnels }
}

describe("AWS's default chain", () => {
  const auth = (profile?: string) => ({
    ...({ type: 'aws-default', region: 'eu-west-1', service: 'bedrock' } as const),
    ...(profile === undefined ? {} : { profile }),
  })

  test('assumes the role of a web identity through the proxy', async () => {
    const proxy = await openUpstream(everyHost)
    writeFileSync(join(home, 'token'), 'a-web-identity')
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(home, 'token'))
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/r')
    vi.stubEnv('AWS_ENDPOINT_URL_STS', 'http://sts.not-resolved.test')
    expect(await textOf(auth(), namedProxy(proxy.address))).toContain('ASIAROLE')
    expect(proxy.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST http://sts.not-resolved.test/'])
  })

  test('assumes the role of a profile through the proxy, signed', async () => {
    const proxy = await openUpstream(everyHost)
    vi.stubEnv('AWS_ENDPOINT_URL_STS', 'http://sts.not-resolved.test')
    writeFileSync(join(home, 'credentials'), '[base]\naws_access_key_id = AKIDBASE\naws_secret_access_key = secret\n')
    writeFileSync(
      join(home, 'config'),
      '[profile one]\nrole_arn = arn:aws:iam::123456789012:role/r\nsource_profile = base\n',
    )
    expect(await textOf(auth('one'), namedProxy(proxy.address))).toContain('ASIAROLE')
    expect(proxy.seen[0]!.headers['authorization']).toContain('AKIDBASE')
  })

  test('assumes the role of a web identity in a profile through the proxy', async () => {
    const proxy = await openUpstream(everyHost)
    writeFileSync(join(home, 'token'), 'a-web-identity')
    vi.stubEnv('AWS_ENDPOINT_URL_STS', 'http://sts.not-resolved.test')
    const role = 'role_arn = arn:aws:iam::123456789012:role/r'
    writeFileSync(join(home, 'config'), `[profile one]\n${role}\nweb_identity_token_file = ${join(home, 'token')}\n`)
    expect(await textOf(auth('one'), namedProxy(proxy.address))).toContain('ASIAROLE')
    expect(proxy.seen.map(({ url }) => url)).toEqual(['http://sts.not-resolved.test/'])
  })

  test('signs in at IAM Identity Center through the proxy', async () => {
    const proxy = await openUpstream(everyHost)
    vi.stubEnv('AWS_ENDPOINT_URL_SSO', 'http://sso.not-resolved.test')
    const folder = join(home, '.aws', 'sso', 'cache')
    mkdirSync(folder, { recursive: true })
    const session = { startUrl: 'https://x.test/start', region: 'eu-west-1', accessToken: 'b', expiresAt: inAnHour() }
    writeFileSync(join(folder, `${createHash('sha1').update('corp').digest('hex')}.json`), JSON.stringify(session))
    writeFileSync(
      join(home, 'config'),
      '[profile one]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = a role\n' +
        '[sso-session corp]\nsso_start_url = https://x.test/start\nsso_region = eu-west-1\n',
    )
    expect(await textOf(auth('one'), namedProxy(proxy.address))).toContain('ASIASSO')
    const { pathname, searchParams } = new URL(proxy.seen[0]!.url)
    expect([pathname, searchParams.get('role_name')]).toEqual(['/federation/credentials', 'a role'])
  })

  test('reads keys of the metadata server directly', async () => {
    const proxy = await openUpstream(everyHost)
    const metadata = await openUpstream((response, { url }) =>
      response.end(
        url.endsWith('/api/token')
          ? 'session'
          : url.endsWith('/security-credentials/')
            ? 'role'
            : JSON.stringify({ AccessKeyId: 'ASIAEC2', SecretAccessKey: 's', Token: 't', Expiration: inAnHour() }),
      ),
    )
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined)
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', metadata.address)
    expect(await textOf(auth(), namedProxy(proxy.address))).toContain('ASIAEC2')
    expect(proxy.seen).toEqual([])
  })
})

describe("Google's default credentials", () => {
  const AUTH = { type: 'google-default' } as const
  const useFile = (content: object): void => {
    writeFileSync(join(home, 'adc.json'), JSON.stringify(content))
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(home, 'adc.json'))
  }

  test('of a service account and of a federated workload get tokens through the proxy', async () => {
    const proxy = await openUpstream(everyHost)
    writeFileSync(join(home, 'subject'), 'subject')
    useFile({
      ...{ type: 'external_account', audience: '//iam.googleapis.com/projects/1/locations/global/p' },
      ...{ subject_token_type: 'urn:ietf:params:oauth:token-type:jwt', token_url: 'http://tokens.test/token' },
      credential_source: { file: join(home, 'subject') },
    })
    expect(await textOf(AUTH, namedProxy(proxy.address))).toBe('token-from-tokens.test')
    expect(proxy.seen.map(({ url }) => url)).toEqual(['http://tokens.test/token'])
  })

  const user = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' }
  const impersonated = { type: 'impersonated_service_account', source_credentials: user }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const account = { type: 'service_account', client_email: 'a@b.test', private_key: key, project_id: 'p' }

  test.each([
    ['a user', user],
    [
      'an impersonated account',
      {
        ...impersonated,
        service_account_impersonation_url:
          'https://iam.test/v1/projects/-/serviceAccounts/a@b.test:generateAccessToken',
      },
    ],
    ['a service account', account],
  ])('of %s ask for a tunnel to the token server, and fail without one', async (_, file) => {
    const { address, tunnels } = await openRefusingProxy()
    useFile(file)
    await expect(textOf(AUTH, namedProxy(address))).rejects.toThrow("Google's application default credentials failed")
    expect(new Set(tunnels)).toEqual(new Set(['oauth2.googleapis.com:443']))
  })

  test('reach hosts that are excluded from the proxy directly', async () => {
    const proxy = await openUpstream(everyHost)
    const server = await openUpstream((response, { url }) =>
      everyHost(response, { url: `http://direct.test${url}` } as never),
    )
    writeFileSync(join(home, 'subject'), 'subject')
    useFile({
      ...{ type: 'external_account', audience: '//iam.googleapis.com/projects/1/locations/global/p' },
      ...{ subject_token_type: 'urn:ietf:params:oauth:token-type:jwt', token_url: `${server.address}/token` },
      credential_source: { file: join(home, 'subject') },
    })
    const proxies = environmentProxy({ HTTPS_PROXY: proxy.address, HTTP_PROXY: proxy.address }, () => {})
    expect(await textOf(AUTH, proxies)).toBe('token-from-direct.test')
    expect(proxy.seen).toEqual([])
  })
})
