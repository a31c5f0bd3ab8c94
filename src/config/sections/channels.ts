import * as v from 'valibot'
import { AUTH_FIELDS, AUTH_TYPES } from '../auth.ts'
import { dialectFlags, upstreamFormats, urlsByFormat } from '../format-fields.ts'
import { optional, required, withValueKind } from '../setting.ts'
import {
  address,
  credential,
  expectsKind,
  fields,
  headers,
  listOfTexts,
  mapOf,
  models,
  number,
  oneOf,
  proxy,
  secret,
  text,
  texts,
  wait,
  yesOrNo,
} from '../values.ts'

/** Flags of one upstream's version of its formats. */
export const dialect = withValueKind('map of [flags](dialects.md)', dialectFlags(mapOf(v.unknown())))

/** Creates the schema of a limit. 0 is not allowed, because it would never admit a request. */
const limit = () => number('a whole number, 1 or more', 1, true)
const share = () => number('a number, 0 or more', 0, false)

/** A key of a channel's pool. */
const pooledKey = fields({
  key: required(credential, 'The key.'),
  weight: optional(share(), "Share of the channel's requests.", 1),
  rpm: optional(limit(), 'Maximum number of requests per minute and process.'),
  tpm: optional(limit(), 'Maximum number of tokens per minute and process.'),
  concurrent: optional(limit(), 'Maximum number of open requests per process.'),
})

/** Meanings of the fields of `auth`. */
const AUTH_MEANINGS: { readonly [F in keyof typeof AUTH_FIELDS]: string } = {
  access_key_id: 'Id of the AWS access key. `AWS_ACCESS_KEY_ID` by default.',
  secret_access_key: 'Its secret. `AWS_SECRET_ACCESS_KEY` by default.',
  session_token: 'Session token of temporary AWS keys. `AWS_SESSION_TOKEN` by default.',
  profile: "Profile in AWS's config files, which is then the only source of keys. `AWS_PROFILE` by default.",
  file: 'Key file of a Google service account. `GOOGLE_APPLICATION_CREDENTIALS` by default.',
  account: 'Content of the key file, instead of `file`.',
  host: "Host of Google's metadata server. `GCE_METADATA_HOST` by default.",
  tenant: 'Tenant of Microsoft Entra. `AZURE_TENANT_ID` by default.',
  client_id: 'Id of the application or managed identity. `AZURE_CLIENT_ID` by default.',
  client_secret: 'Secret of the application. `AZURE_CLIENT_SECRET` by default.',
  token_file: 'File of the workload token. `AZURE_FEDERATED_TOKEN_FILE` by default.',
  endpoint: "Address of Azure's identity endpoint. `IDENTITY_ENDPOINT` by default.",
  authority: 'Address of Microsoft Entra. `AZURE_AUTHORITY_HOST` by default.',
  scope: "Scope of the tokens. The provider's by default.",
}

const authField = (field: keyof typeof AUTH_FIELDS) =>
  optional(AUTH_FIELDS[field] ? secret : text, AUTH_MEANINGS[field])

/** Cloud sign-in of a channel. The type determines which of the fields it needs. */
const auth = fields({
  type: required(oneOf(AUTH_TYPES), 'Kind of sign-in.'),
  ...(Object.fromEntries(
    (Object.keys(AUTH_FIELDS) as (keyof typeof AUTH_FIELDS)[]).map(field => [field, authField(field)]),
  ) as { readonly [F in keyof typeof AUTH_FIELDS]: ReturnType<typeof authField> }),
})

/** A part of an address, such as a region. */
const addressPart = withValueKind(
  'part of an address',
  v.pipe(text, v.regex(/^[A-Za-z0-9][\w.:-]*$/, 'has a character that an address cannot hold')),
)

const timeout = fields({
  connect: optional(wait(), 'Maximum time until the connection is open.', '5s'),
  first_byte: optional(wait(), 'Maximum time until a streamed answer begins.', '10m'),
  whole: optional(wait(), 'Maximum time until an unstreamed answer arrives, which is when it is complete.', '10m'),
  idle: optional(wait(), 'Maximum silence between two chunks of an answer.', '5m'),
})

const tls = fields({
  ca: optional(text, "File of the upstream's certificate authority, in PEM. It replaces the default authorities."),
  cert: optional(text, "File of the gateway's client certificate, in PEM."),
  key: optional(text, "File of the client certificate's private key, in PEM."),
})

/** An account at an upstream. */
export const channel = fields({
  name: required(text, 'Name in log, usage and console.'),
  provider: required(text, '[Provider](providers.md), which determines address, formats and authentication.'),
  folder: optional(text, 'Folder of recordings from which the provider `replay` answers.'),
  formats: optional(
    withValueKind('list of [formats](formats.md)', upstreamFormats(listOfTexts())),
    "Formats of the upstream, best first. The provider's by default.",
  ),
  base_url: optional(
    v.union([address, urlsByFormat(mapOf(address))], expectsKind('an address, or a map of them by format')),
    "Address of the upstream, or one for each format. The provider's by default.",
  ),
  key: optional(
    credential,
    "Key of the upstream; `none` if it needs none. The provider's usual environment variable by default.",
  ),
  keys: optional(
    v.array(
      v.union([credential, pooledKey], 'expected a key, or a map of key, weight, rpm, tpm and concurrent'),
      'expected a list of keys',
    ),
    'Several keys instead of one. Each key rests and is limited separately; a conversation stays on one key.',
  ),
  keys_share_account: optional(
    yesOrNo,
    'Whether all `keys` share stored responses and reasoning, as the keys of one project do. `false` by default.',
  ),
  auth: optional(auth, 'Sign-in at a [cloud](clouds.md), instead of a key.'),
  region: optional(addressPart, "Region in the provider's address. Its environment variable by default."),
  project: optional(addressPart, "Project in the provider's address. Its environment variable by default."),
  resource: optional(addressPart, "Resource in the provider's address. Its environment variable by default."),
  workspace: optional(addressPart, 'Workspace of the requests. Its environment variable by default.'),
  api_version: optional(addressPart, "Version in the provider's address. Its environment variable by default."),
  models: optional(
    models,
    "Models: a list of the upstream's names and patterns, or a map from public names to the upstream's names, " +
      'where `"openai/*": "*"` removes a prefix. All by default.',
  ),
  priority: optional(
    number('a number', Number.NEGATIVE_INFINITY, false),
    'Channels with lower values are tried first.',
    0,
  ),
  weight: optional(share(), 'Share of the requests among channels of equal priority.', 1),
  affinity: optional(yesOrNo, 'Whether a conversation stays on one channel, where its prompt is cached.', true),
  dialect: optional(
    dialect,
    "Flags for the upstream's deviations from its formats, in addition to the provider's flags.",
  ),
  headers: optional(headers, 'Headers sent with every request, also instead of the header with the key.'),
  allow_headers: optional(texts, 'Headers of callers that are passed on.', []),
  media: optional(
    fields({
      addresses: optional(
        oneOf(['public', 'any']),
        'Whether the upstream gets only media URLs with public addresses. `public` by default.',
      ),
    }),
    'Media that the upstream fetches itself.',
  ),
  betas: optional(
    v.union([oneOf(['allow', 'none']), texts], expectsKind('"allow", "none" or a list')),
    "Values of `anthropic-beta` that are passed on. The provider's by default: `allow` for `anthropic`, else mostly `none`.",
  ),
  timeout: optional(timeout, 'Timeouts of requests to the upstream.'),
  max_concurrent: optional(limit(), 'Maximum number of open requests per process.'),
  proxy: optional(proxy, 'Proxy for connections to the upstream. The `proxy` of the config by default.'),
  tls: optional(tls, 'Certificates for connections to the upstream. Changed files are read again.'),
})
