import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GatewayError } from '../../../src/canonical/error.ts'
import { tokenSourceOf } from '../../../src/upstreams/credentials/index.ts'
import { opener } from '../../builders/opener.ts'
import type { FakeUpstream, Script } from '../../builders/upstream.ts'

/* AWS's default chain where it sends requests: roles that are assumed at STS, and sign-ins at IAM Identity Center. */

const { openUpstream } = opener()
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'aws-roles-'))
  const env = {
    ...{ HOME: home, AWS_CONFIG_FILE: join(home, 'config'), AWS_SHARED_CREDENTIALS_FILE: join(home, 'credentials') },
    ...{ AWS_EC2_METADATA_DISABLED: 'true', AWS_ENDPOINT_URL_STS: '', AWS_REGION: '', AWS_PROFILE: '' },
  }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value === '' ? undefined : value)
  writeFileSync(join(home, 'credentials'), '[base]\naws_access_key_id = AKIDBASE\naws_secret_access_key = secret\n')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true })
})

const inAnHour = (): Date => new Date(Date.now() + 3_600_000)

/** The security token service: it answers every request with keys of a role. */
const roleKeys: Script = (response, { text }) => {
  const action = new URLSearchParams(text).get('Action')!
  response.writeHead(200, { 'content-type': 'text/xml' })
  response.end(`<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>
    <AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
    <Expiration>${inAnHour().toISOString()}</Expiration></Credentials></${action}Result></${action}Response>`)
}

async function openSts(script: Script = roleKeys): Promise<FakeUpstream> {
  const sts = await openUpstream(script)
  for (const service of ['STS', 'SSO', 'SSO_OIDC']) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, sts.address)
  return sts
}

const writeConfig = (text: string): void => writeFileSync(join(home, 'config'), text)

const keysOf = async (profile: string): Promise<{ readonly accessKeyId: string }> => {
  const auth = { type: 'aws-default', profile, region: 'cn-north-1', service: 'bedrock' } as const
  return JSON.parse((await tokenSourceOf(auth, undefined)()).text)
}

/** Returns the key and the region of a signature. */
const signedBy = ({ headers }: FakeUpstream['seen'][number]): readonly string[] => {
  const [key, , region] = /Credential=([^,]+)/.exec(headers['authorization']!)![1]!.split('/')
  return [key!, region!]
}

const ROLE = 'role_arn = arn:aws-cn:iam::123456789012:role/r\nsource_profile = '

describe('a role', () => {
  test("is assumed in the channel's region, which may be the only one that knows it", async () => {
    const sts = await openSts()
    writeConfig(`[profile one]\n${ROLE}base\n[profile two]\n${ROLE}one\n`)
    expect((await keysOf('two')).accessKeyId).toBe('ASIAROLE')
    expect(sts.seen.map(signedBy)).toEqual([
      ['AKIDBASE', 'cn-north-1'],
      ['ASIAROLE', 'cn-north-1'],
    ])
  })

  test("is assumed in the profile's region if it names one", async () => {
    const sts = await openSts()
    writeConfig(`[profile one]\n${ROLE}base\nregion = cn-northwest-1\n`)
    await keysOf('one')
    expect(sts.seen.map(signedBy)).toEqual([['AKIDBASE', 'cn-northwest-1']])
  })

  test('that is refused is a fault with the reason, and a redirect gets no second request', async () => {
    const sts = await openSts(response => response.writeHead(302, { location: `${sts.address}/elsewhere` }).end())
    writeConfig(`[profile one]\n${ROLE}base\n`)
    const fault = await keysOf('one').catch((thrown: GatewayError) => thrown.error)
    expect(fault).toMatchObject({ kind: 'upstream-account' })
    expect(sts.seen.map(({ url }) => url)).toEqual(['/'])
  })
})

test.each([
  [503, 5],
  [403, undefined],
] as const)(
  'a token service that answers %d is a fault that passes in %s seconds',
  async (status, retryAfterSeconds) => {
    await openSts(response =>
      response.writeHead(status).end('<ErrorResponse><Error><Code>C</Code></Error></ErrorResponse>'),
    )
    writeConfig(`[profile one]\n${ROLE}base\n`)
    const fault = await keysOf('one').catch((thrown: GatewayError) => thrown.error)
    expect(fault).toMatchObject({ kind: 'upstream-account' })
    expect((fault as GatewayError['error']).retryAfterSeconds).toBe(retryAfterSeconds)
  },
)

describe('a sign-in at IAM Identity Center', () => {
  const session = { startUrl: 'https://example.awsapps.com/start', region: 'eu-west-1' }
  const client = { clientId: 'c', clientSecret: 'cs', registrationExpiresAt: inAnHour(), refreshToken: 'refresh-1' }
  const writeSession = (expiresAt: Date): void => {
    const folder = join(home, '.aws', 'sso', 'cache')
    mkdirSync(folder, { recursive: true })
    const file = `${createHash('sha1').update('corp').digest('hex')}.json`
    writeFileSync(join(folder, file), JSON.stringify({ ...session, ...client, accessToken: 'bearer-1', expiresAt }))
    writeConfig(`[profile one]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = r
[sso-session corp]\nsso_start_url = ${session.startUrl}\nsso_region = eu-west-1\n`)
  }
  const center: Script = (response, { url }) => {
    const expiration = inAnHour().getTime()
    const answer = url.startsWith('/token')
      ? { accessToken: 'bearer-2', refreshToken: 'refresh-2', expiresIn: 3600, tokenType: 'Bearer' }
      : { roleCredentials: { accessKeyId: 'ASIASSO', secretAccessKey: 's', sessionToken: 't', expiration } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }
  const bearers = ({ seen }: FakeUpstream) => seen.map(({ headers }) => headers['x-amz-sso_bearer_token'])

  test('that is valid gives keys of its role', async () => {
    const sts = await openSts(center)
    writeSession(inAnHour())
    expect((await keysOf('one')).accessKeyId).toBe('ASIASSO')
    expect(bearers(sts)).toEqual(['bearer-1'])
  })

  test('that is over is renewed once, and kept for the next keys', async () => {
    const sts = await openSts(center)
    writeSession(new Date(Date.now() - 1000))
    await keysOf('one')
    await keysOf('one')
    expect(bearers(sts)).toEqual([undefined, 'bearer-2', 'bearer-2'])
  })
})
