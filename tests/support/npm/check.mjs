// A workflow on stdin, what GitHub's own parser makes of it on stdout: its errors, and the strategy of each job.
import { readFileSync } from "node:fs";

import {
  NoOperationTraceWriter,
  convertWorkflowTemplate,
  isMapping,
  isSequence,
  parseWorkflow,
} from "@actions/workflow-parser";

function plain(token) {
  if (isMapping(token)) return Object.fromEntries([...token].map(({ key, value }) => [key.toString(), plain(value)]));
  if (isSequence(token)) return [...token].map(plain);
  return token.isExpression ? token.toString() : token.toJSON();
}

async function main() {
  const file = { name: "backproof.yml", content: readFileSync(0, "utf8") };
  const { context, value } = parseWorkflow(file, new NoOperationTraceWriter());
  // Without a value the file is no YAML, and the parser has said so in the context's errors.
  const { jobs = [] } = value === undefined ? {} : await convertWorkflowTemplate(context, value);
  const strategies = jobs.filter((job) => job.strategy).map((job) => [job.id.value, plain(job.strategy)]);
  const errors = context.errors.getErrors().map((error) => error.message);
  console.log(JSON.stringify({ errors, strategies: Object.fromEntries(strategies) }));
}

main();
