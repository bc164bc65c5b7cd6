// NetFacts
