import type { Format, JsonObject } from '../canonical/node.ts'
import type { AuthStyle } from './auth.ts'
import type { BetaPolicy } from './betas.ts'
import type { Hosting, ModelFamily } from './channel-format.ts'
import type { FunctionModels } from './responses-models.ts'

/** A vendor as data: everything that a channel needs if its operator configures only a key. */
export interface Preset {
  readonly name: string
  /** Usual environment variables for the vendor's key. The first one that is set is used. */
  readonly env: readonly string[]
  /** Usual environment variable for the URL, for vendors with a separate URL per customer. */
  readonly addressEnv?: string
  /** Path to append to that URL. */
  readonly addressSuffix?: string
  /**
   * Channel fields that appear in the addresses, for example as `{region}`, each with the environment variables that
   * set it.
   */
  readonly variables?: { readonly [V in PresetVariable]?: PresetVariableSource }
  /** Cloud to which the vendor's service belongs. */
  readonly cloud?: Cloud
  /** True if the vendor needs no key. */
  readonly keyless?: true
  /** The vendor's formats, best first. Empty if only the operator can specify them. */
  readonly formats: readonly PresetFormat[]
  readonly betas?: BetaPolicy
  /** Models of a channel whose operator specifies none. Defaults to the vendor's model list. */
  readonly models?: readonly string[]
}

/** A channel field that may appear in addresses. */
export type PresetVariable = 'region' | 'project' | 'resource' | 'workspace' | 'api_version'

/** Sources of a variable that the channel does not set. */
export interface PresetVariableSource {
  readonly env: readonly string[]
  readonly default?: string
}

/** Sign-in settings of channels at a cloud. */
export interface Cloud {
  readonly name: 'aws' | 'google' | 'azure'
  /** Service name for signing requests to AWS. */
  readonly service?: string
  /** Scope of Microsoft Entra tokens. */
  readonly scope?: string
}

/** One format of a vendor. */
export interface PresetFormat {
  readonly format: Format
  /** Undefined if only the operator can specify it. */
  readonly baseUrl?: string
  /** Path to append to the base URL, even to one that an operator configures. */
  readonly below?: string
  readonly hosting?: Hosting
  /** Format of errors, if it is not this one. */
  readonly errors?: Format
  /** Matches the models available in the format. Defaults to all. */
  readonly servedModels?: RegExp
  /** Matches models that the vendor serves only in another of its formats. */
  readonly avoidedModels?: RegExp
  /** Matches models that another format of the vendor serves if the request has functions. */
  readonly functionModels?: FunctionModels
  /**
   * Families of models that this vendor serves in a way of its own. The first matching row applies, and overrides what
   * the family takes elsewhere.
   */
  readonly families?: readonly ModelFamily[]
  /** Undefined for the format's default authentication (formats.ts). */
  readonly auth?: AuthStyle
  readonly headers?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string }
  readonly dialect?: JsonObject
}
