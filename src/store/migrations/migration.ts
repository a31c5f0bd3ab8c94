/** Column types that differ between the engines. */
export interface ColumnTypes {
  readonly bytes: string
}

/** One numbered schema change. Never edited after its release. */
export interface Migration {
  /** `NNN-what`; sorting by name gives the order. */
  readonly name: string
  /** SQL statements that every engine accepts. */
  statements(types: ColumnTypes): readonly string[]
  /** Columns by table, added to tables of files older than the migrations. */
  readonly later?: { readonly [table: string]: { readonly [column: string]: string } }
}
