import { join, resolve } from 'node:path'
import { packInto } from './package/pack.ts'

/* `npm run package -- FOLDER`: packs a package that npm does not publish. Releases are made by `npm run release`. */

const [folder = '.'] = process.argv.slice(2)
console.log(await packInto(join(import.meta.dirname, '..'), resolve(folder), false))
