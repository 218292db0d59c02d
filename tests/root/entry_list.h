// A chain of which a TEntryList chooses entries.
#pragma once

#include <TChain.h>
#include <TEntryList.h>

#include <string>
#include <vector>

/// Makes the chain read, of each file, the first 1000 entries that 7 divides.
inline void ChooseEntries(const std::vector<std::string>& files, TChain* chain, TEntryList* list) {
  for (const std::string& file : files) {
    chain->Add(file.c_str());
    TEntryList of_file("of_file", "of_file", chain->GetName(), file.c_str());
    for (Long64_t i = 0; i < 1000; ++i) of_file.Enter(7 * i);
    list->Add(&of_file);
  }
  chain->SetEntryList(list);
}
