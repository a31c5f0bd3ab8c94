const { createHash } = require('node:crypto')
const { accessSync, constants, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const ROOT = join(__dirname, '..')

/** The folder of bundles, each in a folder of its own. */
const DIST = join(ROOT, 'dist')

/** The file that names the bundle in use and what it was built of. */
const BUILT = join(DIST, 'built.json')

/** When a file was last written, in a form that no tool sets: its size, and the time of its last change of any kind. */
function stampOf(path) {
  const found = statSync(`${ROOT}/${path}`, { throwIfNoEntry: false })
  return found === undefined ? [] : [found.size, found.ctimeMs]
}

const stampsOf = paths => Object.fromEntries(paths.map(path => [path, stampOf(path)]))

/** A hash of the contents of files. */
function hashOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths)
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(ROOT, path)))
      .update('\0')
  return hash.digest('hex')
}

function isUntouched(stamps) {
  for (const path in stamps) {
    const [size, changed] = stampOf(path)
    if (size !== stamps[path][0] || changed !== stamps[path][1]) return false
  }
  return true
}

/** Takes the place of the former file at once, as others may read it. */
function writeBuilt(built) {
  const fresh = `${BUILT}.${process.pid}`
  writeFileSync(fresh, JSON.stringify(built))
  renameSync(fresh, BUILT)
}

/** Whether files that were copied or touched say what they said; if so, the next start need not read them. */
function isSame(built) {
  const paths = Object.keys(built.stamps)
  // Before the contents are read: what changes meanwhile does not fit them.
  const stamps = stampsOf(paths)
  if (hashOf(paths) !== built.hash) return false
  try {
    writeBuilt({ ...built, stamps })
  } catch {
    // A folder that cannot be written to is read at each start.
  }
  return true
}

function readBuilt() {
  try {
    return JSON.parse(readFileSync(BUILT, 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * The main file of the bundle. Undefined where there is none, where it was built of anything but the sources and
 * packages as they are, and where `INTERLINGUA_BUNDLE=off` asks for the sources.
 */
function currentBundle() {
  if (process.env.INTERLINGUA_BUNDLE === 'off') return undefined
  const built = readBuilt()
  if (typeof built?.folder !== 'string' || !(built.stamps instanceof Object)) return undefined
  try {
    const main = join(DIST, built.folder, 'main.cjs')
    accessSync(main, constants.R_OK)
    return isUntouched(built.stamps) || isSame(built) ? main : undefined
  } catch {
    // Files that are gone, or that this user may not read.
    return undefined
  }
}

module.exports = { DIST, currentBundle, hashOf, readBuilt, stampsOf, writeBuilt }
