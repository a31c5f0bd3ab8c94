/** Types that the engines name differently. */
export interface ColumnTypes {
  readonly bytes: string
}

/** One numbered step of the database's structure; it is never changed once it was released. */
export interface Migration {
  /** `NNN-what`, in order. */
  readonly name: string
  /** SQL that every engine takes. */
  statements(types: ColumnTypes): readonly string[]
  /** Columns, by table, that a table made before there were migrations may lack. */
  readonly later?: { readonly [table: string]: { readonly [column: string]: string } }
}
