/** A range of a text, with an exclusive end, and the text that replaces it. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Applies edits to the concatenation of pieces, and splits it again at the same positions. A replacement belongs to the
 * piece in which its range begins.
 *
 * @param edits sorted and without overlaps.
 */
export function applyEdits(pieces: readonly string[], edits: readonly Edit[]): readonly string[] {
  let offset = 0
  let next = 0
  return pieces.map(piece => {
    const end = offset + piece.length
    let out = ''
    let position = offset
    for (; next < edits.length && edits[next]!.start < end; next++) {
      const edit = edits[next]!
      if (edit.start >= offset) out += piece.slice(position - offset, edit.start - offset) + edit.text
      position = Math.min(end, edit.end)
      if (edit.end > end) break
    }
    out += piece.slice(position - offset)
    offset = end
    return out
  })
}

/** Sorts edits and merges overlapping ones. A merged edit keeps the text of the first. */
export function mergedEdits(edits: readonly Edit[]): readonly Edit[] {
  const merged: Edit[] = []
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (last === undefined || edit.start >= last.end) merged.push(edit)
    else if (edit.end > last.end) merged[merged.length - 1] = { ...last, end: edit.end }
  }
  return merged
}
