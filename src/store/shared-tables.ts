export interface SecretRow {
  readonly name: string
  /** In base64. */
  readonly value: string
}

/** A row that a transaction changes first, so that those of one name follow one another. */
export interface LockRow {
  readonly name: string
  /** How often it was taken. */
  readonly turn: number
}

export interface PictureRow {
  readonly id: string
  readonly media_type: string
  readonly size: number
  /** Its place among all pictures, in the order they were complete; 0 for one that is still written. */
  readonly place: number
  readonly expires_at: number
}

export interface PictureBytesRow {
  readonly picture: string
  /** From 0. */
  readonly number: number
  readonly bytes: Uint8Array
}

export interface NoteRow {
  readonly kind: string
  readonly name: string
  readonly owner: string
  readonly text: string
  readonly expires_at: number
}

/** The thoughts of one answer. */
export interface ThoughtRow {
  readonly id: string
  readonly text: string
  readonly expires_at: number
}

/** A name under which a call, and thereby its answer's thoughts, are found. */
export interface ThoughtNameRow {
  readonly name: string
  readonly thought: string
  readonly step: number
}

/** What instances need of each other. */
export interface SharedTables {
  readonly secrets: SecretRow
  readonly locks: LockRow
  readonly pictures: PictureRow
  readonly picture_bytes: PictureBytesRow
  readonly notes: NoteRow
  readonly thoughts: ThoughtRow
  readonly thought_names: ThoughtNameRow
}
