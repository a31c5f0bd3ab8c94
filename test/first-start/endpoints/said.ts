/** Text of the built-in upstream's answer. */
export const SAID = 'Hello! This answer was recorded: no model was asked.'

export const TURNS = [{ role: 'user', content: 'Say hello.' }]
