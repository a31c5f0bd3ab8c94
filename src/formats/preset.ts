import type { Format, JsonObject } from '../canonical/node.ts'
import type { AuthStyle } from './auth.ts'
import type { BetaPolicy } from './betas.ts'

/** A vendor as data: everything a channel needs if its operator configures only a key. */
export interface Preset {
  readonly name: string
  /** The usual environment variables of the vendor's key. The first that is set is used. */
  readonly env: readonly string[]
  /** The usual environment variable of the URL, for vendors with one URL per customer. */
  readonly addressEnv?: string
  /** The path to append to that URL. */
  readonly addressSuffix?: string
  /** The vendor needs no key. */
  readonly keyless?: true
  /** The vendor's formats, best first. Empty if only the operator can name them. */
  readonly formats: readonly PresetFormat[]
  readonly betas?: BetaPolicy
  /** The models of a channel for which the operator names none. By default the vendor's list. */
  readonly models?: readonly string[]
}

/** One format of a vendor. */
export interface PresetFormat {
  readonly format: Format
  /** Undefined if only the operator can name it. */
  readonly baseUrl?: string
  /** Undefined for the format's default (formats.ts). */
  readonly auth?: AuthStyle
  readonly headers?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string }
  readonly dialect?: JsonObject
}
