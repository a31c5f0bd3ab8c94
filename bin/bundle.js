const { createHash } = require('node:crypto')
const { accessSync, constants, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const ROOT = join(__dirname, '..')

/** Folder that contains one folder for each bundle. */
const DIST = join(ROOT, 'dist')

/** File that names the current bundle and the files it was built from. */
const BUILT = join(DIST, 'built.json')

/**
 * A stamp that changes with every write to a file: the size, and the time of the last change, which no tool can set.
 */
function stampOf(path) {
  const found = statSync(`${ROOT}/${path}`, { throwIfNoEntry: false })
  return found === undefined ? [] : [found.size, found.ctimeMs]
}

const stampsOf = paths => Object.fromEntries(paths.map(path => [path, stampOf(path)]))

/** Hash of the contents of the files. */
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

/** Replaces the former file in one step because other processes may read it. */
function writeBuilt(built) {
  const fresh = `${BUILT}.${process.pid}`
  writeFileSync(fresh, JSON.stringify(built))
  renameSync(fresh, BUILT)
}

/**
 * Whether files that were copied or touched still have the same contents. If so, the new stamps are saved and the next
 * start need not read the files.
 */
function isSame(built) {
  const paths = Object.keys(built.stamps)
  // Taken before the contents are read. If a file changes in between, its stamp no longer matches.
  const stamps = stampsOf(paths)
  if (hashOf(paths) !== built.hash) return false
  try {
    writeBuilt({ ...built, stamps })
  } catch {
    // If the folder is not writable, each start reads the files again.
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
 * Main file of the bundle. Undefined if there is none, if sources or packages have changed since it was built, or if
 * `INTERLINGUA_BUNDLE=off` selects the sources.
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
    // Files are missing or not readable for this user.
    return undefined
  }
}

module.exports = { DIST, currentBundle, hashOf, readBuilt, stampsOf, writeBuilt }
