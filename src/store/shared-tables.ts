/** A secret of the gateway, shared by all instances. */
export interface SecretRow {
  readonly name: string
  /** The secret, in Base64. */
  readonly value: string
}

/** A named lock. A transaction updates the row of its lock first, which serialises transactions. */
export interface LockRow {
  readonly name: string
  /** Number of times the lock was acquired. */
  readonly turn: number
}

/** A stored image. `ImageRecord` describes the fields. */
export interface ImageRow {
  readonly id: string
  readonly media_type: string
  readonly size: number
  /** Position among all images in order of completion, or 0 while the image is being written. */
  readonly place: number
  readonly expires_at: number
}

/** One chunk of an image. */
export interface ImageChunkRow {
  readonly picture: string
  /** Index of the chunk, from 0. */
  readonly number: number
  readonly bytes: Uint8Array
}

/** A note. `Note` describes the fields. */
export interface NoteRow {
  readonly kind: string
  readonly name: string
  readonly owner: string
  readonly text: string
  readonly expires_at: number
}

/** The encrypted reasoning of one answer. */
export interface ReasoningRow {
  readonly id: string
  readonly text: string
  readonly expires_at: number
}

/** A name of a tool call, by which the reasoning of its answer is found. */
export interface ReasoningNameRow {
  readonly name: string
  readonly thought: string
  readonly step: number
}

/** The issuer of a signature. `SignatureRecord` describes the fields. */
export interface SignatureRow {
  readonly hash: string
  readonly issuer: string
  readonly expires_at: number
}

/** Tables of the state shared between instances. */
export interface SharedTables {
  readonly secrets: SecretRow
  readonly locks: LockRow
  readonly pictures: ImageRow
  readonly picture_bytes: ImageChunkRow
  readonly notes: NoteRow
  readonly thoughts: ReasoningRow
  readonly thought_names: ReasoningNameRow
  readonly signatures: SignatureRow
}
