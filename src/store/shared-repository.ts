import { ImageRepository } from './image-repository.ts'
import { NoteRepository } from './note-repository.ts'
import { ReasoningRepository } from './reasoning-repository.ts'
import type { SharedRecords } from './shared-records.ts'
import { SignatureRepository } from './signature-repository.ts'
import type { Database } from './tables.ts'

/**
 * Creates the repository of state shared between instances.
 *
 * @param now Unix time in milliseconds.
 */
export function sharedRepository(database: Database, now: () => number): SharedRecords {
  const images = new ImageRepository(database, now)
  const notes = new NoteRepository(database, now)
  const reasoning = new ReasoningRepository(database, now)
  const signatures = new SignatureRepository(database, now)
  return {
    secret: name => storedSecret(database, name),
    async createSecret(name, fresh) {
      await database
        .insertInto('secrets')
        .values({ name, value: Buffer.from(fresh).toString('base64') })
        .onConflict(conflict => conflict.column('name').doNothing())
        .execute()
      return (await storedSecret(database, name))!
    },
    putImage: (image, limits) => images.put(image, limits),
    image: id => images.find(id),
    addNote: (note, limits) => notes.add(note, limits),
    note: (kind, name) => notes.find(kind, name),
    takeNote: (kind, name) => notes.take(kind, name),
    changeReasoning: changes => reasoning.change(changes),
    reasoning: names => reasoning.find(names),
    putSignatures: records => signatures.put(records),
    signatures: hashes => signatures.find(hashes),
    hasSignatures: () => signatures.hasAny(),
    async sweep(before = now()) {
      for (const one of [images, notes, reasoning, signatures]) await one.sweep(before)
    },
  }
}

/** Returns a secret of the gateway. */
export async function storedSecret(database: Database, name: string): Promise<Uint8Array | undefined> {
  const row = await database.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst()
  return row && Buffer.from(row.value, 'base64')
}
