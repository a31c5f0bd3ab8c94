/** A generated image that callers download by URL. */
export interface ImageRecord {
  readonly mediaType: string
  /** Total bytes. */
  readonly size: number
  /** Time at which the record expires, in Unix milliseconds. */
  readonly expiresAt: number
  /** Streams the bytes in chunks. Ends early if the image is deleted in the meantime. */
  read(): AsyncIterable<Uint8Array>
}

/** An image to store. */
export interface NewImageRecord {
  /** Database id. The image cannot be downloaded by this id alone. */
  readonly id: string
  readonly mediaType: string
  /** Time at which the record expires, in Unix milliseconds. */
  readonly expiresAt: number
  /**
   * Streams the bytes from the start on every call, so that a rolled-back transaction can be retried. Holds one chunk
   * in memory.
   */
  read(): AsyncIterable<Uint8Array>
}

/** Maximum number of stored images and of their bytes together. The oldest images are deleted to make room. */
export interface ImageLimits {
  readonly count: number
  readonly size: number
}

/** A short-lived text, found by name until it expires. */
export interface Note {
  readonly kind: NoteKind
  readonly name: string
  /** Owner of the note. Notes are also limited per owner. */
  readonly owner: string
  readonly text: string
  /** Time at which the note expires, in Unix milliseconds. */
  readonly expiresAt: number
}

/** The purpose of a note. */
export type NoteKind = 'client-secret'

/** Maximum lifetime of a note, in milliseconds: that of a client secret (docs/wire/realtime.md#client-secrets). */
export const MAX_NOTE_LIFETIME_MS = 7_200_000

/** Maximum number of unexpired notes of one kind: per owner, and in total. */
export interface NoteLimits {
  readonly perOwner: number
  readonly total: number
}

/**
 * Encrypted reasoning of one answer, found by the names of its tool calls. Without reasoning, only deletes those names.
 */
export interface ReasoningChange {
  /** Names of each tool call, in order. Earlier reasoning under these names is no longer found. */
  readonly names: readonly (readonly string[])[]
  /** The encrypted reasoning. Absent if the calls have none. */
  readonly reasoning?: { readonly id: string; readonly text: string; readonly expiresAt: number }
}

/** Stored reasoning that matches at least one of the requested names. */
export interface FoundReasoning {
  readonly id: string
  readonly text: string
  readonly expiresAt: number
  /** All names of the reasoning, and for each name the index of its tool call in the answer. */
  readonly names: readonly { readonly name: string; readonly step: number }[]
}

/** The account that issued a signature of reasoning. */
export interface SignatureRecord {
  /** Hash of the signature. */
  readonly hash: string
  readonly issuer: string
  /** Time at which the record expires, in Unix milliseconds. */
  readonly expiresAt: number
}

/** State shared between instances, apart from responses, tasks and keys. */
export interface SharedRecords {
  /** Returns a secret of the gateway, or undefined if the secret was never created. */
  secret(name: string): Promise<Uint8Array | undefined>
  /** Creates a secret unless one of that name exists. Returns the stored secret, whichever process created it. */
  createSecret(name: string, fresh: Uint8Array): Promise<Uint8Array>
  /** Stores an image. Lookups find the image only after all its bytes are written. */
  putImage(image: NewImageRecord, limits: ImageLimits): Promise<void>
  image(id: string): Promise<ImageRecord | undefined>
  /** Stores a note. Returns false if there are too many notes of that kind. */
  addNote(note: Note, limits: NoteLimits): Promise<boolean>
  note(kind: NoteKind, name: string): Promise<string | undefined>
  /** Finds and deletes the note atomically, so that exactly one of several concurrent callers gets it. */
  takeNote(kind: NoteKind, name: string): Promise<string | undefined>
  /** Applies all changes in order, in one transaction. */
  changeReasoning(changes: readonly ReasoningChange[]): Promise<void>
  reasoning(names: readonly string[]): Promise<readonly FoundReasoning[]>
  /** Stores the issuers of signatures, in one transaction. */
  putSignatures(records: readonly SignatureRecord[]): Promise<void>
  /** Returns the issuers of the given signatures by hash. Unknown signatures are missing from the result. */
  signatures(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Returns true if any signature is stored. */
  hasSignatures(): Promise<boolean>
  /** Deletes everything that expired before a time, in Unix milliseconds. By default the current time. */
  sweep(before?: number): Promise<void>
}
