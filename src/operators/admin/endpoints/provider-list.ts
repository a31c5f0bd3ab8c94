import { type Provider, type ProviderField, providerOf } from '../../../config/provider-fields.ts'
import { PRESETS } from '../../../formats/index.ts'
import { endpoint } from '../endpoint.ts'
import { allOf, PROVIDER } from '../shapes.ts'

const listProviders = endpoint({
  method: 'get',
  path: '/providers',
  operation: 'listProviders',
  role: 'admin',
  summary: 'Lists the vendors that channels can have, with the fields that each needs and the variables that are set.',
  answer: allOf(PROVIDER),
  // Channels of recordings refer to folders of the server, so they cannot be stored.
  handle: () => ({
    data: [...PRESETS.values()]
      .filter(({ name }) => name !== 'replay')
      .map(preset => providerView(providerOf(preset, process.env))),
  }),
})

const providerView = ({ name, isKeyless, formats, fields, auth }: Provider) => ({
  ...{ name, keyless: isKeyless },
  formats: formats.map(({ format, baseUrl, does }) => ({
    format,
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    does,
  })),
  fields: fields.map(fieldView),
  auth: auth.map(({ type, fields }) => ({ type, fields: fields.map(fieldView) })),
})

const fieldView = ({ name, isRequired, isSecret, env, ...rest }: ProviderField) => ({
  ...{ name, required: isRequired, secret: isSecret, ...rest },
  ...(env === undefined ? {} : { env: env.map(one => ({ name: one.name, set: one.isSet })) }),
})

/** The endpoint that lists vendors. */
export const PROVIDERS = [listProviders]
