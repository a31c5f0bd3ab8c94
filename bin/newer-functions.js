/* Functions of JavaScript that the gateway uses and that Node before 26 lacks. */

function getOrInsertComputed(key, create) {
  if (!this.has(key)) this.set(key, create(key))
  return this.get(key)
}

for (const type of [Map, WeakMap]) {
  type.prototype.getOrInsertComputed ??= getOrInsertComputed
  type.prototype.getOrInsert ??= function (key, value) {
    return getOrInsertComputed.call(this, key, () => value)
  }
}

RegExp.escape ??= text =>
  text.replace(/[^\w\s]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

Promise.try ??= (work, ...values) => new Promise(resolve => resolve(work(...values)))
