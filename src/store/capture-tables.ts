/** One captured request; `StoredCapture` describes the fields. */
export interface CaptureRow {
  readonly id: string
  readonly at: number
  readonly key_id: string | null
  /** Bytes of `data`. */
  readonly size: number
  readonly expires_at: number
  readonly data: Uint8Array
}

/** Table of captured requests. */
export interface CaptureTables {
  readonly captures: CaptureRow
}
