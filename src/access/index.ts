import type { Config, GroupConfig } from '../config.ts'

/** Who asks. */
export interface Caller {
  /** The name of the key, fit for logs. */
  readonly key: string
  readonly group: GroupConfig
}

/** What of a request may carry a credential; names of headers in lower case, as Node gives them. */
export interface Credentials {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** The value of `?key=`, where there is one. */
  readonly queryKey?: string
}

export interface Access {
  /**
   * Whose key this is.
   *
   * @throws GatewayError `unauthenticated` without a key or with one that is unknown or revoked.
   */
  identify(credentials: Credentials): Caller
  /**
   * Counts one request against the key's limits.
   *
   * @throws GatewayError `rate-limited` with `retryAfterSeconds`.
   */
  admit(caller: Caller): void
  /** Counts the tokens a request turned out to cost; they delay the key's later requests. */
  spend(caller: Caller, tokens: number): void
  /** Takes the groups and fixed keys of another config; what was counted stands. */
  reload(config: Config): void
  /** Stops watching the key file. */
  close(): void
}

/** Opens the keys of the config and those of the key file in its data directory, which is watched for changes. */
export function openAccess(_config: Config): Access {
  throw new Error('not written yet')
}
