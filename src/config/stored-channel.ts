import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { Path } from '../canonical/loss.ts'
import { isObject } from '../canonical/node.ts'
import { PRESETS, type Preset } from '../formats/index.ts'
import { PEM, type WrittenChannel } from './channel.ts'
import type { FaultAt } from './faults.ts'
import { CHANNEL_SCHEMA, MODEL_SCHEMA } from './index.ts'
import { faultsOf, type PathFault } from './issues.ts'
import { isDeep, pathName, TOO_DEEP } from './schema.ts'
import { isReference, mapSecrets, type Written } from './secret-fields.ts'
import type { ChannelConfig, ModelFacts, ProxyConfig } from './types.ts'
import type { Env } from './variable.ts'
import { channelOf, factsOf } from './with-defaults.ts'

/** Context of a stored channel: the environment, and the proxy of channels that configure none. */
export interface Surroundings {
  readonly env: Env
  readonly proxy: ProxyConfig | undefined
}

/** A checked value, or its faults. Paths are relative to the value. */
export type Checked<T> =
  | { readonly value: T; readonly faults?: undefined }
  | { readonly value?: undefined; readonly faults: readonly PathFault[] }

/**
 * Checks a stored channel by the rules of the config file and by two further rules: it must not name files on the
 * server, and must not send the machine's credentials to its own address
 * (docs/decisions/2026-11-28-stored-channels.md).
 */
export function checkedChannel(written: Written, { env, proxy }: Surroundings): Checked<ChannelConfig> {
  if (isDeep(written)) return { faults: DEPTH_FAULTS }
  const parsed = v.safeParse(CHANNEL_SCHEMA, written)
  if (!parsed.success) return { faults: faultsOf(parsed.issues) }
  const faults: PathFault[] = []
  const fault: FaultAt = (path, message) => faults.push({ path, message })
  const preset = PRESETS.get(parsed.output.provider)
  reportName(parsed.output, fault)
  reportFiles(parsed.output, fault)
  reportHosts(parsed.output, fault)
  const reason = preset && reasonAgainstMachine(parsed.output, preset)
  if (reason !== undefined) reportMachineCredentials(parsed.output, preset!, { env, reason }, fault)
  if (faults.length > 0) return { faults }
  const channel = channelOf(parsed.output, reason === undefined ? env : withoutSecrets(env, preset), proxy, fault)
  return faults.length > 0 || channel === undefined ? { faults } : { value: channel }
}

/** Checks a stored entry of `models`. */
export function checkedModel(id: string, written: Written): Checked<ModelFacts> {
  if (isDeep(written)) return { faults: DEPTH_FAULTS }
  const parsed = v.safeParse(MODEL_SCHEMA, written)
  if (!parsed.success) return { faults: faultsOf(parsed.issues) }
  const faults: PathFault[] = []
  const facts = factsOf(id, parsed.output, (path, message) => faults.push({ path, message }))
  return faults.length > 0 ? { faults } : { value: facts }
}

const DEPTH_FAULTS: readonly PathFault[] = [{ path: [], message: TOO_DEEP }]

const NAME = pathName()

function reportName({ name }: WrittenChannel, fault: FaultAt): void {
  const { issues } = v.safeParse(NAME, name)
  if (issues !== undefined) fault(['name'], issues[0].message)
}

const NO_SERVER_FILE = 'names a file on the server; write the channel in the config file instead'

function reportFiles({ provider, folder, auth, tls }: WrittenChannel, fault: FaultAt): void {
  if (provider === 'replay')
    fault(['provider'], 'answers from files on the server; write it in the config file instead')
  if (folder !== undefined) fault(['folder'], NO_SERVER_FILE)
  for (const field of ['file', 'token_file'] as const)
    if (auth?.[field] !== undefined) fault(['auth', field], NO_SERVER_FILE)
  for (const [field, pem] of Object.entries(tls ?? {}))
    if (pem?.startsWith(PEM) === false) fault(['tls', field], `is not a PEM text, which starts with "${PEM.trim()}"`)
}

/**
 * Reports a header that names another server at the provider's address. A content delivery network serves all its
 * customers at one address and uses this name to decide who gets a request with its credentials (RFC 9110, 7.2).
 */
function reportHosts({ headers = {} }: WrittenChannel, fault: FaultAt): void {
  for (const name of Object.keys(headers))
    if (name.toLowerCase() === 'host')
      fault(['headers', name], 'names another server than the address; write the channel in the config file instead')
}

/**
 * Fields with which an operator can send a channel's credentials to an arbitrary address. Regions, projects, resources
 * and workspaces, in contrast, only select something at the provider's own hosts.
 */
const REDIRECTIONS: readonly Path[] = [
  ...[['base_url'], ['proxy'], ['tls', 'ca']],
  ...['authority', 'host', 'endpoint'].map(field => ['auth', field]),
]

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inside, step) => (isObject(inside) ? inside[step] : undefined), value)

const redirections = (written: object): readonly Path[] =>
  REDIRECTIONS.filter(path => ![undefined, 'none'].includes(valueAt(written, path) as string | undefined))

/** Types of sign-in that use the machine's identity. */
const MACHINE: ReadonlySet<string> = new Set([
  ...['aws-default', 'google-default', 'google-metadata', 'azure-managed', 'azure-workload', 'azure-default'],
])

/** Returns the reason why a channel must not use the machine's credentials, or undefined if it may use them. */
function reasonAgainstMachine(written: WrittenChannel, { name, cloud }: Preset): string | undefined {
  const [first] = redirections(written)
  if (first !== undefined) return `the channel has its own \`${first.join('.')}\``
  const isForeign = written.auth !== undefined && !written.auth.type.startsWith(`${cloud?.name}-`)
  return isForeign ? `"${name}" does not belong to this cloud` : undefined
}

/** Reports a channel that would use a key from the environment or the machine's identity but must not. */
function reportMachineCredentials(
  { key, keys, auth }: WrittenChannel,
  preset: Preset,
  { env, reason }: { readonly env: Env; readonly reason: string },
  fault: FaultAt,
): void {
  if (auth !== undefined && MACHINE.has(auth.type))
    fault(['auth', 'type'], `credentials of the machine are sent only to the provider's own address, and ${reason}`)
  const isFromEnvironment = preset.env.some(name => env[name])
  if (auth === undefined && key === undefined && keys === undefined && isFromEnvironment)
    fault(['key'], `is missing; keys of the environment are sent only to the provider's own address, and ${reason}`)
}

/** Returns only the environment variables for a preset's address. */
function withoutSecrets(env: Env, preset: Preset | undefined): Env {
  const sources = Object.values(preset?.variables ?? {}).flatMap(source => source.env)
  const names = preset?.addressEnv === undefined ? sources : [...sources, preset.addressEnv]
  return Object.fromEntries(names.map(name => [name, env[name]]))
}

/** Fields that determine where a channel's secrets are sent. */
const ADDRESS: readonly Path[] = [['provider'], ...REDIRECTIONS]

/**
 * Reports stored secrets that a change would send to another address. This prevents operators from reading a secret by
 * redirecting its channel.
 *
 * @param next the changed channel, with references to its unchanged secrets.
 */
export function movedSecrets(before: Written, next: Written): readonly PathFault[] {
  const movedPath = ADDRESS.find(path => !isDeepStrictEqual(valueAt(before, path), valueAt(next, path)))
  if (movedPath === undefined) return []
  const faults: PathFault[] = []
  mapSecrets(next, (secret, path) => {
    if (isReference(secret))
      faults.push({ path, message: `must be given again, because \`${movedPath.join('.')}\` changes where it is sent` })
    return secret
  })
  return faults
}
