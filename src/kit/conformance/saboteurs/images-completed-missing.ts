import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-completed-missing',
  says: 'A stream ends after its partial images.',
  cell: 'images-images/images-edit-previews/stream',
  caught: [
    'stream.completed',
    'answer.meaning:images[0].digest',
    'answer.meaning:made.size',
    'answer.meaning:made.quality',
    'answer.meaning:made.background',
    'answer.meaning:made.format',
    'answer.meaning:usage.input',
    'answer.meaning:usage.output',
    'answer.meaning:usage.inputText',
    'answer.meaning:usage.inputImage',
  ],
  answer: answer => edited(answer, text => text.slice(0, text.indexOf('event: image_edit.completed'))),
}
