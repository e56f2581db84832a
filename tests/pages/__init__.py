"""The pages as people get them: read with an HTML parser, for viewers with different rights."""
