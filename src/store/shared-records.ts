/** A picture that callers load by its address. */
export interface StoredPicture {
  readonly mediaType: string
  /** Bytes of the whole. */
  readonly size: number
  /** Unix time in milliseconds. */
  readonly expiresAt: number
  /** Its bytes, read piece by piece; fewer than its size where it is deleted meanwhile. */
  read(): AsyncIterable<Uint8Array>
}

/** A picture that is to be kept. */
export interface NewPicture {
  /** Where it is found: nothing by which it could be fetched. */
  readonly id: string
  readonly mediaType: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
  /** Its bytes, from the beginning with each call: what a server undid is written again. No more than a piece is held. */
  read(): AsyncIterable<Uint8Array>
}

/** How many pictures are kept at once, and how many bytes all of them may have: the oldest are deleted for new ones. */
export interface PictureLimits {
  readonly count: number
  readonly size: number
}

/** A text that is found by its name until it expires. */
export interface Note {
  readonly kind: NoteKind
  readonly name: string
  /** Whose it is: some kinds are limited by owner. */
  readonly owner: string
  readonly text: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

export type NoteKind = 'client-secret'

/** How many notes of one kind there may be that have not expired. */
export interface NoteLimits {
  readonly own: number
  readonly all: number
}

/** The thoughts of one answer, encrypted, or the names of calls that are to be found no more. */
export interface ThoughtChange {
  /** Of each call, in order, the names under which it is found; what was found under one before is not any more. */
  readonly names: readonly (readonly string[])[]
  /** Absent where calls of these names have no thoughts any more. */
  readonly thoughts?: { readonly id: string; readonly text: string; readonly expiresAt: number }
}

/** Thoughts that are known under some of the names asked for. */
export interface FoundThoughts {
  readonly id: string
  readonly text: string
  readonly expiresAt: number
  /** Every name of them, and which call of the answer has it. */
  readonly names: readonly { readonly name: string; readonly step: number }[]
}

/** What instances need of each other beside responses, tasks and keys. */
export interface SharedRecords {
  /** A secret of the gateway's own; undefined where none was made. */
  secret(name: string): Promise<Uint8Array | undefined>
  /** Keeps a secret where there is none of that name. The result is the one that is kept, whoever made it. */
  keepSecret(name: string, fresh: Uint8Array): Promise<Uint8Array>
  /** Keeps a picture, which is found once all of it is there. */
  keepPicture(picture: NewPicture, limits: PictureLimits): Promise<void>
  picture(id: string): Promise<StoredPicture | undefined>
  /** Keeps a note; false where there are too many of the kind. */
  keepNote(note: Note, limits: NoteLimits): Promise<boolean>
  note(kind: NoteKind, name: string): Promise<string | undefined>
  /** The same, and nobody finds it again: of several takers one has it. */
  takeNote(kind: NoteKind, name: string): Promise<string | undefined>
  /** Makes the changes in their order, all or none. */
  changeThoughts(changes: readonly ThoughtChange[]): Promise<void>
  thoughts(names: readonly string[]): Promise<readonly FoundThoughts[]>
  /** Deletes what has expired. */
  sweep(): Promise<void>
}
