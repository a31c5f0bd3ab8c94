export { request } from '../arbitrary.ts'
export { asked, result } from '../arbitrary-result.ts'
export { RESULTS as examples } from '../examples.ts'
