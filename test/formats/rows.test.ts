import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { CALLER_FORMATS } from '../../src/formats/caller-formats.ts'
import { MODEL_FIELDS } from '../../src/formats/model-fields.ts'
import { ROWS } from '../../src/formats/rows/index.ts'
import { READERS } from '../../src/ingress/index.ts'

describe('the rows of formats', () => {
  it('are one for each file, and one for each format that is read or written', () => {
    const files = globSync('src/formats/rows/*.ts').map(file => basename(file, '.ts'))
    const others = ['index', 'model-field-lists', 'row']
    expect([...ROWS.keys()].sort()).toEqual(files.filter(name => !others.includes(name)).sort())
    for (const format of [...Object.keys(READERS), ...Object.keys(WRITERS)]) expect(ROWS.has(format), format).toBe(true)
  })

  it('say where every caller may name a model', () => {
    expect([...MODEL_FIELDS.keys()]).toEqual([...CALLER_FORMATS.keys()])
    for (const [format, { requested }] of MODEL_FIELDS)
      expect(requested.length > 0 || ROWS.get(format)!.methods !== undefined, format).toBe(true)
  })

  it('have endpoints only for formats that callers speak', () => {
    for (const [format, { callers, endpoints }] of ROWS)
      expect(endpoints === undefined || callers !== undefined, format).toBe(true)
  })
})
