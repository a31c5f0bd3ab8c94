import { join } from 'node:path'
import { ROOT } from '../../root.ts'

/** Folder of the kit's data: scenarios, schemas and peers. */
export const DATA: string = join(ROOT, 'conformance')
