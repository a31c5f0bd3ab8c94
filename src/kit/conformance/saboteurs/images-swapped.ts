import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'images-swapped',
  says: 'Two images are swapped.',
  cell: 'images-images/images-several/whole',
  caught: ['answer.meaning:images[0].digest', 'answer.meaning:images[1].digest'],
  answer: answer =>
    edited(answer, text => text.replace(/("b64_json": "[^"]+")([\s\S]*?)("b64_json": "[^"]+")/, '$3$2$1')),
}
