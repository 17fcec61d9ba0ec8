// Puts package.json back as it was before prepack.mjs.
import { existsSync, renameSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const path = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
if (existsSync(path('target/package.json'))) renameSync(path('target/package.json'), path('package.json'))
