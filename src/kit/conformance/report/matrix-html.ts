import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATA } from '../data.ts'
import { embedded } from './html.ts'
import type { Matrix } from './matrix.ts'

/** Returns the matrix as one self-contained HTML page. The template is `conformance/matrix.html`. */
export const matrixHtml = (matrix: Matrix): string =>
  readFileSync(join(DATA, 'matrix.html'), 'utf8').replace('MATRIX', () => embedded(matrix))
