import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { tokenSourceOf } from '../../../src/upstreams/credentials/index.ts'
import { opener } from '../../builders/opener.ts'

/* A named profile of AWS on a machine that has an account of its own. The machine's keys must not pay for it. */

const { openUpstream } = opener()
let home: string
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'aws-profiles-'))
  const machine = await openUpstream((response, { url }) =>
    response.end(
      url.endsWith('/api/token')
        ? 'session'
        : url.endsWith('/security-credentials/')
          ? 'role'
          : JSON.stringify({ AccessKeyId: 'ASIAMACHINE', SecretAccessKey: 's', Token: 't', Expiration: inAnHour() }),
    ),
  )
  const env = {
    ...{ HOME: home, AWS_CONFIG_FILE: join(home, 'config'), AWS_SHARED_CREDENTIALS_FILE: join(home, 'none') },
    ...{ AWS_EC2_METADATA_SERVICE_ENDPOINT: machine.address, AWS_EC2_METADATA_DISABLED: '', AWS_REGION: '' },
    ...{ AWS_PROFILE: '', AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_WEB_IDENTITY_TOKEN_FILE: '' },
    ...{ AWS_CONTAINER_CREDENTIALS_FULL_URI: '', AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '' },
  }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value === '' ? undefined : value)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true })
})

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString()

/** Returns the text of the keys, or the fault. */
const keysOf = (config: string, profile?: string): Promise<string> => {
  writeFileSync(join(home, 'config'), config)
  const auth = { type: 'aws-default', region: 'eu-west-1', service: 'bedrock', ...(profile && { profile }) } as const
  return tokenSourceOf(auth, undefined)().then(
    ({ text }) => text,
    (thrown: Error) => thrown.message,
  )
}

const ROLE = 'role_arn = arn:aws:iam::123456789012:role/r'

describe('a profile that returns no keys', () => {
  test.each([
    ['a missing one', '', 'using profile: [customer]'],
    ['one without a source', '[profile customer]\nregion = eu-west-1\n', 'using profile: [customer]'],
    ['one with a missing source', `[profile customer]\n${ROLE}\nsource_profile = gone\n`, 'using profile: [gone]'],
    ['one whose program fails', '[profile customer]\ncredential_process = false\n', 'The command failed'],
    ['one whose program prints no keys', '[profile customer]\ncredential_process = echo x\n', 'invalid JSON'],
  ])("never uses the machine's account: %s", async (_, config, reason) => {
    const message = await keysOf(config, 'customer')
    expect(message).toContain("AWS's default credentials returned no keys: ")
    expect(message).toContain(reason)
  })

  test('shows nothing of the program that failed', async () => {
    const program = 'credential_process = sh -c "echo printed-secret >&2; exit 3" --password argument-secret'
    const message = await keysOf(`[profile customer]\n${program}\n`, 'customer')
    expect(message).toContain('The command failed')
    expect(message).not.toContain('secret')
  })
})

test('a profile of the environment that only states a region leaves the choice to the machine', async () => {
  vi.stubEnv('AWS_PROFILE', 'customer')
  expect(await keysOf('[profile customer]\nregion = eu-west-1\n', 'customer')).toContain('ASIAMACHINE')
})

test('a profile of the environment whose program fails is a fault', async () => {
  vi.stubEnv('AWS_PROFILE', 'customer')
  expect(await keysOf('[profile customer]\ncredential_process = false\n', 'customer')).toContain('The command failed')
})

test("no profile uses the machine's account", async () => {
  expect(await keysOf('')).toContain('ASIAMACHINE')
})
