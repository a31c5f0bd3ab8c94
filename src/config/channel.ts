import { existsSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { defined, type Format, type JsonObject } from '../canonical/node.ts'
import { withoutTrailingSlashes } from '../canonical/text.ts'
import {
  type AuthStyle,
  baseUrlAt,
  baseUrlFor,
  FORMAT_FACTS,
  formatsAt,
  hostDialect,
  isBelowHost,
  isMixed,
  namesIn,
  type Preset,
  type PresetFormat,
  type PresetVariable,
  type PresetVariableSource,
  type VariableValues,
  withVariables,
} from '../formats/index.ts'
import { authOf } from './auth.ts'
import { readCredentialFile } from './credential-file.ts'
import { type FaultAt, suggestion } from './faults.ts'
import type { WrittenConfig } from './index.ts'
import type { ChannelConfig, ChannelFormat, ChannelModels, Timeouts, UpstreamTls } from './types.ts'
import { type Env, variableIn } from './variable.ts'

export type WrittenChannel = NonNullable<WrittenConfig['channels']>[number]

/** Applies the preset and all defaults to a channel. Paths of reported faults are relative to the channel. */
export function channelWithDefaults(written: WrittenChannel, general: Preset, env: Env, fault: FaultAt): ChannelConfig {
  const values = variablesOf(written, general, env, fault)
  const preset = withVariables(general, values)
  const auth = written.auth && authOf(written.auth, preset, { region: values['region'], env }, fault)
  const key = keyOf(written, preset, env, fault)
  checkHeaders(written.headers, fault)
  return {
    name: written.name,
    provider: preset.name,
    formats: formatsOf(written, preset, env, fault),
    ...defined({ key, auth, maxConcurrent: written.max_concurrent, folder: folderOf(written, preset, fault) }),
    ...defined({ tls: written.tls && upstreamTlsOf(written.tls, fault) }),
    // The provider `replay` fetches nothing, so any address is safe.
    ...(written.media?.addresses === 'any' || preset.name === 'replay' ? { anyAddress: true as const } : {}),
    // If no models are listed, a folder of recordings supplies its own.
    models: modelsOf(written.models ?? (written.folder === undefined ? (preset.models ?? ['*']) : []), fault),
    priority: written.priority ?? 0,
    weight: written.weight ?? 1,
    ...(written.affinity === false ? { affinity: false as const } : {}),
    timeout: timeoutsOf(written.timeout),
    allowHeaders: [
      ...allowedHeaders(written.allow_headers ?? [], fault),
      ...(written.folder === undefined ? [] : [REPLAY_SCOPE]),
    ],
    betas: written.betas ?? preset.betas ?? 'none',
  }
}

/**
 * Header that separates the requests of tests that run in parallel, so that each test replays equal requests in order.
 * Callers may send it to folders of recordings.
 */
const REPLAY_SCOPE = 'interlingua-replay-scope'

function folderOf({ folder }: WrittenChannel, preset: Preset, fault: FaultAt): string | undefined {
  if (folder === undefined) return undefined
  if (preset.name !== 'replay') fault(['folder'], `has no effect with the provider "${preset.name}"`)
  if (!existsSync(folder)) fault(['folder'], `there is no folder ${folder}`)
  return folder
}

/** Returns the value of a variable of a preset, from the environment or by default. */
export const defaultOf = (source: PresetVariableSource, env: Env): string | undefined =>
  source.env.map(name => variableIn(env, name)).find(Boolean) ?? source.default

const VARIABLES: readonly PresetVariable[] = ['region', 'project', 'resource', 'workspace', 'api_version']

/** Fields for parts of a provider's address. */
export const ADDRESS_PARTS: ReadonlySet<string> = new Set(VARIABLES)

/**
 * Returns the values of the preset's variables. Reports missing variables, except for parts of a host that the operator
 * replaced, and variables that the preset lacks.
 */
function variablesOf(written: WrittenChannel, preset: Preset, env: Env, fault: FaultAt): VariableValues {
  const values: { [name: string]: string | undefined } = {}
  const neededVariables = new Set(preset.formats.flatMap(row => namesNeeded(row, written.base_url !== undefined)))
  if (written.auth !== undefined && preset.cloud?.service !== undefined) neededVariables.add('region')
  const inHosts = new Set(written.base_url === undefined ? preset.formats.flatMap(namesInHost) : [])
  for (const name of VARIABLES) {
    const source = preset.variables?.[name]
    if (source === undefined) {
      if (written[name] !== undefined) fault([name], `has no effect with the provider "${preset.name}"`)
      continue
    }
    values[name] = written[name] ?? defaultOf(source, env)
    if (inHosts.has(name) && written[name]?.match(HOST_PART) === null) fault([name], 'is not part of a host name')
    if (values[name] === undefined && neededVariables.has(name))
      fault([name], `is missing, and ${source.env[0]} is not set`)
  }
  return values
}

/**
 * Matches a variable's value in a host name. Dots are excluded, so that the value cannot select another domain of the
 * provider.
 */
const HOST_PART = /^[\w-]+$/

const namesInHost = ({ baseUrl = '' }: PresetFormat) => namesIn(baseUrl.split('/')[2] ?? '')

/**
 * Returns the variables that requests of a format need. If the host is replaced, variables in the host do not count.
 */
const namesNeeded = ({ baseUrl = '', below = '', headers, query }: PresetFormat, isReplaced: boolean) =>
  [isReplaced ? '' : baseUrl, below, ...Object.values({ ...headers, ...query })].flatMap(namesIn)

function keyOf(written: WrittenChannel, preset: Preset, env: Env, fault: FaultAt): string | undefined {
  if (written.auth !== undefined) {
    if (written.key !== undefined) fault(['key'], 'cannot be set together with `auth`')
    if (written.keys !== undefined) fault(['keys'], 'cannot be set together with `auth`')
    return undefined
  }
  if (written.key === 'none' || written.keys !== undefined) return undefined
  const key = written.key ?? preset.env.map(name => variableIn(env, name)).find(value => value)
  if (key === undefined && preset.keyless !== true) fault(['key'], missingKey(preset))
  return key
}

function missingKey({ env, cloud }: Preset): string {
  const alternative = cloud === undefined ? '' : '; `auth` signs in to the cloud without a key'
  if (env.length > 0) return `is missing, and ${env[0]} is not set${alternative}`
  return `is missing; write \`key: none\` if none is needed${alternative}`
}

function formatsOf(written: WrittenChannel, preset: Preset, env: Env, fault: FaultAt): ChannelFormat[] {
  const names = written.formats ?? presetFormats(written, preset)
  if (names.length === 0) fault(['formats'], 'is missing: list the formats of this upstream, best first')
  const isMixedFormats = isMixed(written.formats ?? preset.formats.map(row => row.format))
  const fromEnvironment = preset.addressEnv === undefined ? undefined : variableIn(env, preset.addressEnv)
  const address =
    fromEnvironment === undefined ? undefined : withoutTrailingSlashes(fromEnvironment) + (preset.addressSuffix ?? '')
  let missing = false
  const formats = names.map((format, index) => {
    if (!FORMAT_FACTS.has(format))
      fault(['formats', index], `unknown format "${format}"${suggestion(format, FORMAT_FACTS.keys())}`)
    const row = preset.formats.find(one => one.format === format)
    const baseUrl =
      configuredBaseUrl(written, preset, format, isMixedFormats) ?? belowUrl(row?.baseUrl, row?.below) ?? address
    if (baseUrl === undefined && preset.name !== 'replay') missing = true
    return formatOf(written, format, row, baseUrl ?? '')
  })
  if (missing) fault(['base_url'], 'is missing')
  return formats
}

/** Returns the preset's formats that are available at the operator's base URL. */
const presetFormats = ({ base_url }: WrittenChannel, preset: Preset): readonly Format[] =>
  typeof base_url === 'string' ? formatsAt(preset, base_url) : preset.formats.map(row => row.format)

/** Returns the operator's base URL in the form that this format needs, or undefined if the operator configured none. */
function configuredBaseUrl(
  written: WrittenChannel,
  preset: Preset,
  format: Format,
  isMixedFormats: boolean,
): string | undefined {
  const address = written.base_url
  const below = preset.formats.find(row => row.format === format)?.below
  if (below !== undefined) return belowUrl(typeof address === 'object' ? address[format] : address, below)
  if (typeof address === 'string') {
    const configured = written.formats?.length === 1 ? undefined : baseUrlAt(preset, format, address)
    return configured ?? baseUrlFor(format, address, isMixedFormats)
  }
  const configured = address === undefined ? undefined : Object.entries(address).find(([name]) => name === format)?.[1]
  return configured === undefined ? undefined : baseUrlFor(format, configured, false)
}

/** Appends the path of a format to an address. */
const belowUrl = (address: string | undefined, below = ''): string | undefined =>
  address === undefined ? undefined : withoutTrailingSlashes(address) + below

function formatOf(
  written: WrittenChannel,
  format: Format,
  row: PresetFormat | undefined,
  baseUrl: string,
): ChannelFormat {
  return {
    format,
    baseUrl,
    auth: authStyleOf(written, row, format),
    headers: lowerCase({ ...row?.headers, ...written.headers }),
    query: row?.query ?? {},
    dialect: { ...(row?.dialect ?? hostDialect(format, baseUrl)), ...(written.dialect as JsonObject | undefined) },
    ...defined({ hosting: row?.hosting, errors: row?.errors }),
    ...defined({ servedModels: row?.servedModels, avoidedModels: row?.avoidedModels, families: row?.families }),
    ...(isAtHost(baseUrl, row?.functionModels?.host) ? defined({ functionModels: row?.functionModels }) : {}),
  }
}

/** Returns true unless the URL belongs to a server that imitates the vendor, which may lack some of its formats. */
function isAtHost(baseUrl: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(baseUrl)) return true
  const { hostname } = new URL(baseUrl)
  return isBelowHost(hostname, host)
}

/** Returns the auth style of a format. It is `bearer` for tokens of a cloud, and `none` for signed requests. */
function authStyleOf({ key, auth }: WrittenChannel, row: PresetFormat | undefined, format: Format): AuthStyle {
  if (auth !== undefined) return auth.type.startsWith('aws') ? 'none' : 'bearer'
  return key === 'none' ? 'none' : (row?.auth ?? FORMAT_FACTS.get(format)?.auth ?? 'bearer')
}

/** Headers of a connection, which the client of HTTP writes itself and refuses from others. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  ...['content-length', 'expect', 'keep-alive', 'transfer-encoding', 'upgrade'],
])

function checkHeaders(headers: WrittenChannel['headers'], fault: FaultAt): void {
  for (const name in headers)
    if (CONNECTION_HEADERS.has(name.toLowerCase())) fault(['headers', name], 'is set by the gateway itself')
}

const lowerCase = (headers: { readonly [name: string]: string }): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function allowedHeaders(names: readonly string[], fault: FaultAt): string[] {
  return names.map((name, index) => {
    const lower = name.toLowerCase()
    if (NEVER_PASSED_ON.has(lower))
      fault(['allow_headers', index], `"${name}" is never passed from a caller to an upstream`)
    return lower
  })
}

/**
 * Converts `models`. A map assigns upstream ids to public ids and patterns. A list contains ids that are both public
 * and upstream ids, and patterns for the upstream's model list.
 */
function modelsOf(models: readonly string[] | { readonly [id: string]: string }, fault: FaultAt): ChannelModels {
  const entries = isList(models) ? models.map(id => [id, id] as const) : Object.entries(models)
  if (entries.some(([id]) => id.trim() === '')) fault(['models'], 'has a model without a name')
  const patterns = entries.filter(([id]) => id.includes('*'))
  const renames = patterns.filter(([pattern, upstream]) => pattern !== upstream)
  for (const [id, upstream] of isList(models) ? [] : entries)
    if (starsIn(upstream) > starsIn(id)) fault(['models', id], `"${upstream}" has a \`*\` that the name lacks`)
    else if (starsIn(id) > 1 && id !== upstream)
      fault(['models', id], 'a pattern with a different upstream name can have only one `*`')
  return {
    named: new Map(entries.filter(([id]) => !id.includes('*'))),
    patterns: patterns.map(([pattern]) => pattern),
    ...(renames.length === 0 ? {} : { renamed: new Map(renames) }),
  }
}

const starsIn = (name: string): number => name.split('*').length - 1

/** Variant of Array.isArray that also narrows readonly arrays. */
const isList = (value: object): value is readonly string[] => Array.isArray(value)

const timeoutsOf = (timeout: WrittenChannel['timeout']): Timeouts => ({
  connect: timeout?.connect ?? 5000,
  firstByte: timeout?.first_byte ?? 600_000,
  whole: timeout?.whole ?? 600_000,
  idle: timeout?.idle ?? 300_000,
})

/** Start of a PEM text. */
export const PEM = '-----BEGIN '

/** TLS settings of a channel: files, or PEM texts. */
export interface WrittenTls {
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/**
 * Reads a channel's certificates: its own certificate authority, and the gateway's client certificate with its key.
 * Reports files that cannot be read or used.
 */
function upstreamTlsOf({ ca, cert, key }: WrittenTls, fault: FaultAt): UpstreamTls | undefined {
  if ((cert === undefined) !== (key === undefined)) fault(['tls'], 'needs both `cert` and `key`, or neither')
  const read = (field: keyof WrittenTls, file: string | undefined): string | undefined => {
    if (file?.startsWith(PEM) !== false) return file
    try {
      return readCredentialFile(file)
    } catch (thrown) {
      fault(['tls', field], (thrown as Error).message)
      return undefined
    }
  }
  const tls: UpstreamTls = defined({ ca: read('ca', ca), cert: read('cert', cert), key: read('key', key) })
  try {
    createSecureContext(tls)
  } catch {
    fault(['tls'], 'has no valid certificates, or a key that belongs to another certificate')
  }
  return tls
}

/**
 * Caller headers that are never passed on, whatever the config says, because they contain credentials, belong to one
 * connection, or describe the exchange with the upstream.
 */
export const NEVER_PASSED_ON: ReadonlySet<string> = new Set([
  ...['authorization', 'proxy-authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'xi-api-key', 'cookie'],
  ...['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'],
  ...[
    'host',
    'connection',
    'proxy-connection',
    'keep-alive',
    'upgrade',
    'te',
    'trailer',
    'transfer-encoding',
    'expect',
  ],
  ...['content-length', 'content-type', 'content-encoding', 'accept', 'accept-encoding', 'user-agent'],
])
