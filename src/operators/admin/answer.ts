/** A complete HTTP answer of the admin API. */
export interface AdminAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly text: string
  /** `set-cookie` headers. */
  readonly cookies?: readonly string[]
}
