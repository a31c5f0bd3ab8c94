import { createPrivateKey } from 'node:crypto'
import { defined, parseObject } from '../canonical/node.ts'
import { withoutTrailingSlashes } from '../canonical/text.ts'
import type { Preset } from '../formats/preset.ts'
import { readCredentialFile } from './credential-file.ts'
import type { FaultAt } from './faults.ts'
import { type Env, variableIn } from './variable.ts'

/** Cloud sign-in of a channel: a source of tokens, or keys that sign requests. */
export type ChannelAuth =
  | AwsAuth
  | { readonly type: 'google-service-account'; readonly account: GoogleServiceAccount }
  | { readonly type: 'google-metadata'; readonly host: string }
  | { readonly type: 'google-default' }
  | { [Type in AzureType]: AzureAuth<Type> }[AzureType]

/**
 * AWS sign-in. Requests are signed for a service in a region, with these keys or with keys from AWS's default
 * credential chain.
 */
export type AwsAuth = { readonly region: string; readonly service: string } & (
  | {
      readonly type: 'aws-keys'
      readonly accessKeyId: string
      readonly secretAccessKey: string
      readonly sessionToken?: string
    }
  | { readonly type: 'aws-default'; readonly profile?: string }
)

/** Fields of a service account's key file that are needed to sign token requests. */
export interface GoogleServiceAccount {
  readonly email: string
  /** Private key (PKCS #8 in PEM). Never log it. */
  readonly privateKey: string
  readonly keyId?: string
  readonly tokenUrl: string
  /** Domain of a universe other than the public Google Cloud, such as a sovereign cloud. */
  readonly universe?: string
}

type AzureType = 'azure-client' | 'azure-managed' | 'azure-workload' | 'azure-default'

/** Sign-in at Microsoft Entra for a scope. */
export type AzureAuth<Type extends AzureType> = { readonly type: Type; readonly scope: string } & AzureFields[Type]

/** Fields of each type of sign-in at Microsoft Entra. */
interface AzureFields {
  'azure-client': {
    readonly tenant: string
    readonly clientId: string
    readonly clientSecret: string
    readonly authority: string
  }
  'azure-workload': {
    readonly tenant: string
    readonly clientId: string
    readonly tokenFile: string
    readonly authority: string
  }
  'azure-managed': {
    readonly clientId?: string
    /** Identity endpoint: App Service's if there is a secret, otherwise the metadata server. */
    readonly endpoint: { readonly url: string; readonly secret?: string }
  }
  'azure-default': unknown
}

/** Values of `auth.type`. The part before the hyphen names the cloud. */
export const AUTH_TYPES = [
  ...(['aws-keys', 'aws-default', 'google-service-account', 'google-metadata', 'google-default'] as const),
  ...(['azure-client', 'azure-managed', 'azure-workload', 'azure-default'] as const),
] as const

/** Fields of `auth` other than `type`. The value is true for secrets. */
export const AUTH_FIELDS = {
  ...{ access_key_id: false, secret_access_key: true, session_token: true, profile: false },
  ...{ file: false, account: true, host: false },
  ...{ tenant: false, client_id: false, client_secret: true, token_file: false, endpoint: false },
  ...{ authority: false, scope: false },
} as const

type Field = keyof typeof AUTH_FIELDS

/** A channel's `auth`, as written in the config. */
export type WrittenAuth = { readonly type: ChannelAuth['type'] } & { readonly [F in Field]?: string | undefined }

/** Reads the fields of one type of sign-in. */
interface FieldReader {
  /**
   * Returns the field, or else the first of these environment variables that is set. Reports a fault if there is
   * neither.
   */
  required(field: Field, ...variables: string[]): string
  optional(field: Field, ...variables: string[]): string | undefined
  isWritten(field: Field): boolean
  readonly preset: Preset
  readonly region: string | undefined
  readonly env: Env
  fault(field: Field | undefined, message: string): void
}

const AUTHORITY = 'https://login.microsoftonline.com'
const METADATA_HOST = 'metadata.google.internal'
const AZURE_METADATA = 'http://169.254.169.254'

/** Functions that create the auth, by type. */
const READERS_BY_TYPE: { readonly [T in ChannelAuth['type']]: (fields: FieldReader) => ChannelAuth | undefined } = {
  'aws-keys': fields => ({
    type: 'aws-keys',
    ...awsService(fields),
    accessKeyId: fields.required('access_key_id', 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: fields.required('secret_access_key', 'AWS_SECRET_ACCESS_KEY'),
    // A session token is valid only with the keys that it was issued with.
    ...defined({
      sessionToken: fields.optional(
        'session_token',
        ...(fields.isWritten('access_key_id') ? [] : ['AWS_SESSION_TOKEN']),
      ),
    }),
  }),
  'aws-default': fields => ({
    ...{ type: 'aws-default', ...awsService(fields) },
    ...defined({ profile: fields.optional('profile', 'AWS_PROFILE') }),
  }),
  'google-service-account': fields => {
    const account = serviceAccountIn(fields)
    return account && { type: 'google-service-account', account }
  },
  'google-metadata': fields => ({
    type: 'google-metadata',
    host: hostIn(fields.optional('host', 'GCE_METADATA_HOST') ?? METADATA_HOST),
  }),
  'google-default': () => ({ type: 'google-default' }),
  'azure-client': fields => ({
    ...{ type: 'azure-client', ...entra(fields), scope: scopeOf(fields) },
    clientSecret: fields.required('client_secret', 'AZURE_CLIENT_SECRET'),
  }),
  'azure-workload': fields => ({
    ...{ type: 'azure-workload', ...entra(fields), scope: scopeOf(fields) },
    tokenFile: fields.required('token_file', 'AZURE_FEDERATED_TOKEN_FILE'),
  }),
  'azure-managed': fields => ({
    ...{ type: 'azure-managed', scope: scopeOf(fields) },
    ...defined({ clientId: fields.optional('client_id', 'AZURE_CLIENT_ID') }),
    endpoint: {
      url: fields.optional('endpoint', 'IDENTITY_ENDPOINT') ?? AZURE_METADATA,
      ...defined({ secret: fields.env['IDENTITY_HEADER'] || undefined }),
    },
  }),
  'azure-default': fields => ({ type: 'azure-default', scope: scopeOf(fields) }),
}

/** Returns the host of a metadata server, which Google's libraries also take as an address. */
const hostIn = (address: string): string => withoutTrailingSlashes(address.replace(/^http:\/\//i, ''))

function awsService({ preset, region, fault }: FieldReader): { readonly region: string; readonly service: string } {
  const service = preset.cloud?.service
  if (service === undefined) fault(undefined, `does not fit the provider "${preset.name}", which is not an AWS service`)
  return { region: region ?? '', service: service ?? '' }
}

const entra = (fields: FieldReader) => ({
  tenant: fields.required('tenant', 'AZURE_TENANT_ID'),
  clientId: fields.required('client_id', 'AZURE_CLIENT_ID'),
  authority: withoutTrailingSlashes(fields.optional('authority', 'AZURE_AUTHORITY_HOST') ?? AUTHORITY),
})

const scopeOf = (fields: FieldReader): string =>
  fields.optional('scope') ?? fields.preset.cloud?.scope ?? fields.required('scope')

/** Reads a service account from its key file or from the file's text. The content is never shown. */
function serviceAccountIn(fields: FieldReader): GoogleServiceAccount | undefined {
  const account = fields.optional('account')
  if (account !== undefined) return serviceAccountOf(account, fields, 'account')
  const file = fields.required('file', 'GOOGLE_APPLICATION_CREDENTIALS')
  if (file === '') return undefined
  if (file.trimStart().startsWith('{')) {
    fields.fault('file', 'is the text of a key file instead of its name: write it as `account`')
    return undefined
  }
  try {
    return serviceAccountOf(readCredentialFile(file), fields, 'file')
  } catch (thrown) {
    fields.fault('file', (thrown as Error).message)
    return undefined
  }
}

function serviceAccountOf(
  text: string,
  fields: FieldReader,
  field: 'account' | 'file',
): GoogleServiceAccount | undefined {
  const {
    client_email: email,
    private_key: privateKey,
    private_key_id: keyId,
    token_uri: tokenUrl,
    universe_domain: universe,
  } = parseObject(text) ?? {}
  const pkcs8 = typeof privateKey === 'string' ? rsaKeyIn(privateKey) : undefined
  if (typeof email !== 'string' || pkcs8 === undefined) {
    fields.fault(field, 'is not the key file of a service account')
    return undefined
  }
  const url = typeof tokenUrl === 'string' && URL.canParse(tokenUrl) ? tokenUrl : 'https://oauth2.googleapis.com/token'
  return {
    email,
    privateKey: pkcs8,
    ...defined({ keyId: typeof keyId === 'string' ? keyId : undefined }),
    tokenUrl: url,
    ...(typeof universe === 'string' && !PUBLIC_NAMES.has(universe) ? { universe } : {}),
  }
}

/** Domain of the public Google Cloud. */
export const PUBLIC_UNIVERSE = 'googleapis.com'

/** Values of `universe_domain` that stand for the public Google Cloud, as in Google's libraries. */
const PUBLIC_NAMES: ReadonlySet<string> = new Set(['', PUBLIC_UNIVERSE])

/**
 * Returns an RSA key in PKCS #8, or undefined for anything else. A key may also be written in PKCS #1, or stand behind
 * other text.
 */
function rsaKeyIn(pem: string): string | undefined {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'rsa' ? key.export({ type: 'pkcs8', format: 'pem' }).toString() : undefined
  } catch {
    return undefined
  }
}

/**
 * Completes a channel's `auth` from its preset and the environment. Returns undefined if it cannot be used. Reports
 * fields that are missing or have no effect.
 */
export function authOf(
  written: WrittenAuth,
  preset: Preset,
  { region, env }: { readonly region: string | undefined; readonly env: Env },
  fault: FaultAt,
): ChannelAuth | undefined {
  const used = new Set<string>(['type'])
  const optional = (field: Field, ...variables: string[]): string | undefined => {
    used.add(field)
    return written[field] ?? variables.map(name => variableIn(env, name)).find(Boolean)
  }
  const auth = READERS_BY_TYPE[written.type]({
    ...{ preset, region, env, optional },
    isWritten: field => written[field] !== undefined,
    required: (field, ...variables) => {
      const value = optional(field, ...variables)
      const alternative = variables.length === 0 ? '' : `, and ${variables[0]} is not set`
      if (value === undefined) fault(['auth', field], `is missing${alternative}`)
      return value ?? ''
    },
    fault: (field, message) => fault(field === undefined ? ['auth'] : ['auth', field], message),
  })
  for (const [field, value] of Object.entries(written))
    if (value !== undefined && !used.has(field)) fault(['auth', field], `has no effect with type "${written.type}"`)
  return auth
}

/** A field of a type of sign-in. */
export interface AuthField {
  readonly name: Field
  readonly isRequired: boolean
  /** Environment variables that replace a missing value. */
  readonly env: readonly string[]
}

/** Returns the fields that a type of sign-in reads, in order. */
export function authFields(type: ChannelAuth['type'], preset: Preset): readonly AuthField[] {
  const found = new Map<Field, AuthField>()
  const note = (name: Field, isRequired: boolean, env: readonly string[]): void => {
    found.set(name, { name, isRequired, env })
  }
  READERS_BY_TYPE[type]({
    ...{ preset, region: undefined, env: {}, isWritten: () => false, fault: () => {} },
    required: (field, ...variables) => {
      note(field, true, variables)
      return ''
    },
    optional: (field, ...variables) => {
      note(field, false, variables)
      return undefined
    },
  })
  return [...found.values()]
}

/** Returns the secrets in an auth, which are removed from every text that leaves the gateway. */
export function secretsOf(auth: ChannelAuth): readonly string[] {
  if (auth.type === 'aws-keys') return present(auth.secretAccessKey, auth.accessKeyId, auth.sessionToken)
  if (auth.type === 'azure-client') return [auth.clientSecret]
  return auth.type === 'azure-managed' ? present(auth.endpoint.secret) : []
}

const present = (...secrets: readonly (string | undefined)[]): readonly string[] =>
  secrets.filter(secret => secret !== undefined)
