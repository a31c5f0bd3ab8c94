import { KeptNotes } from './kept-notes.ts'
import { KeptPictures } from './kept-pictures.ts'
import { KeptThoughtTexts } from './kept-thoughts.ts'
import type { SharedRecords } from './shared-records.ts'
import type { Database } from './tables.ts'

/**
 * Creates the repository of state shared between instances.
 *
 * @param now Unix time in milliseconds.
 */
export function keptShared(database: Database, now: () => number): SharedRecords {
  const pictures = new KeptPictures(database, now)
  const notes = new KeptNotes(database, now)
  const thoughts = new KeptThoughtTexts(database, now)
  return {
    secret: name => secret(database, name),
    async keepSecret(name, fresh) {
      await database
        .insertInto('secrets')
        .values({ name, value: Buffer.from(fresh).toString('base64') })
        .onConflict(conflict => conflict.column('name').doNothing())
        .execute()
      return (await secret(database, name))!
    },
    keepPicture: (picture, limits) => pictures.keep(picture, limits),
    picture: id => pictures.find(id),
    keepNote: (note, limits) => notes.keep(note, limits),
    note: (kind, name) => notes.find(kind, name),
    takeNote: (kind, name) => notes.take(kind, name),
    changeThoughts: changes => thoughts.change(changes),
    thoughts: names => thoughts.find(names),
    async sweep() {
      for (const one of [pictures, notes, thoughts]) await one.sweep()
    },
  }
}

async function secret(database: Database, name: string): Promise<Uint8Array | undefined> {
  const row = await database.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst()
  return row && Buffer.from(row.value, 'base64')
}
