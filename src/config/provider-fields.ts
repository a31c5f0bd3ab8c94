import { FORMAT_FACTS, type Preset, type PresetVariable } from '../formats/index.ts'
import { AUTH_FIELDS, AUTH_TYPES, authFields } from './auth.ts'
import { defaultOf } from './channel.ts'
import type { Env } from './variable.ts'

/** A field that a provider's channels can have. */
export interface ProviderField {
  readonly name: string
  /** True if neither a default nor the environment has a value. */
  readonly isRequired: boolean
  readonly isSecret: boolean
  readonly default?: string
  /** Environment variables that replace a missing value, each with `isSet`. */
  readonly env?: readonly { readonly name: string; readonly isSet: boolean }[]
}

/** Fields and formats that a provider's channels can have. */
export interface Provider {
  readonly name: string
  readonly isKeyless: boolean
  readonly formats: readonly { readonly format: string; readonly baseUrl?: string; readonly does: readonly string[] }[]
  readonly fields: readonly ProviderField[]
  /** Types of sign-in at the provider's cloud, which are used instead of a key. */
  readonly auth: readonly { readonly type: string; readonly fields: readonly ProviderField[] }[]
}

/** Derives the fields of a provider's channels from its preset. */
export function providerOf(preset: Preset, env: Env): Provider {
  const { name, keyless, formats, cloud } = preset
  return {
    name,
    isKeyless: keyless === true,
    formats: formats.map(({ format, baseUrl, below = '' }) => ({
      format,
      ...(baseUrl === undefined ? {} : { baseUrl: baseUrl + below }),
      does: FORMAT_FACTS.get(format)?.does ?? [],
    })),
    fields: fieldsOf(preset, env),
    auth: AUTH_TYPES.filter(type => type.startsWith(`${cloud?.name}-`)).map(type => ({
      type,
      fields: signInFields(type, preset, env),
    })),
  }
}

function fieldsOf({ keyless, env: keys, formats, variables = {}, models, ...preset }: Preset, env: Env) {
  const { addressEnv } = preset
  const field = fieldIn(env)
  const needsAddress = formats.length === 0 || formats.some(({ baseUrl }) => baseUrl === undefined)
  const address = formats.find(({ baseUrl }) => baseUrl !== undefined)?.baseUrl
  return [
    field('key', { isRequired: keyless !== true, isSecret: true, env: keys }),
    field('base_url', {
      isRequired: needsAddress,
      ...(address === undefined ? {} : { default: address }),
      env: addressEnv === undefined ? [] : [addressEnv],
    }),
    ...Object.entries(variables).map(([name, source]) =>
      field(name as PresetVariable, {
        isRequired: true,
        env: source.env,
        ...(source.default === undefined ? {} : { default: defaultOf(source, {})! }),
      }),
    ),
    field('formats', { isRequired: formats.length === 0 }),
    field('models', { default: (models ?? ['*']).join(', ') }),
  ]
}

/**
 * Returns the fields of a type of sign-in. Stored channels must not name files, so they have the text of a key file
 * instead.
 */
function signInFields(type: (typeof AUTH_TYPES)[number], preset: Preset, env: Env): ProviderField[] {
  const all = authFields(type, preset)
  const file = all.find(({ name }) => name === 'file')
  return all
    .filter(({ name }) => name !== 'file' && name !== 'token_file')
    .map(({ name, isRequired, env: variables }) =>
      fieldIn(env)(name, {
        isRequired: isRequired || name === 'account',
        isSecret: AUTH_FIELDS[name],
        env: name === 'account' ? (file?.env ?? []) : variables,
      }),
    )
}

interface FieldOptions {
  readonly isRequired?: boolean
  readonly isSecret?: boolean
  readonly default?: string
  readonly env?: readonly string[]
}

const fieldIn =
  (env: Env) =>
  (
    name: string,
    { isRequired = false, isSecret = false, env: variables = [], ...rest }: FieldOptions,
  ): ProviderField => {
    const known = variables.map(one => ({ name: one, isSet: Boolean(env[one]) }))
    return {
      name,
      isRequired: isRequired && rest.default === undefined && !known.some(({ isSet }) => isSet),
      isSecret,
      ...rest,
      ...(known.length === 0 ? {} : { env: known }),
    }
  }
