import type { Format, JsonObject } from '../canonical/node.ts'
import type { AuthStyle } from './auth.ts'
import type { BetaPolicy } from './betas.ts'
import type { Hosting } from './channel-format.ts'

/** A vendor as data: everything a channel needs if its operator configures only a key. */
export interface Preset {
  readonly name: string
  /** The usual environment variables of the vendor's key. The first that is set is used. */
  readonly env: readonly string[]
  /** The usual environment variable of the URL, for vendors with one URL per customer. */
  readonly addressEnv?: string
  /** The path to append to that URL. */
  readonly addressSuffix?: string
  /** The channel fields that stand in the addresses as `{region}`, each with the environment variables that set it. */
  readonly variables?: { readonly [V in PresetVariable]?: PresetVariableSource }
  /** The cloud that the vendor is a service of. */
  readonly cloud?: Cloud
  /** The vendor needs no key. */
  readonly keyless?: true
  /** The vendor's formats, best first. Empty if only the operator can name them. */
  readonly formats: readonly PresetFormat[]
  readonly betas?: BetaPolicy
  /** The models of a channel for which the operator names none. By default the vendor's list. */
  readonly models?: readonly string[]
}

/** A channel field that stands in addresses. */
export type PresetVariable = 'region' | 'project' | 'resource' | 'workspace' | 'api_version'

/** Sources of a variable that the channel does not state. */
export interface PresetVariableSource {
  readonly env: readonly string[]
  readonly default?: string
}

/** Sign-in of channels at a cloud. */
export interface Cloud {
  readonly name: 'aws' | 'google' | 'azure'
  /** The name of the service that requests to AWS are signed for. */
  readonly service?: string
  /** The scope of tokens of Microsoft Entra. */
  readonly scope?: string
}

/** One format of a vendor. */
export interface PresetFormat {
  readonly format: Format
  /** Undefined if only the operator can name it. */
  readonly baseUrl?: string
  /** The format's path below the base URL, also below one that an operator configures. */
  readonly below?: string
  readonly hosting?: Hosting
  /** The format of errors, if it is not this one. */
  readonly errors?: Format
  /** Matches the models that the format serves; all by default. */
  readonly servedModels?: RegExp
  /** Undefined for the format's default (formats.ts). */
  readonly auth?: AuthStyle
  readonly headers?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string }
  readonly dialect?: JsonObject
}
