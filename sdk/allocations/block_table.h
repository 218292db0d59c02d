// Which site each live block belongs to.
#ifndef CREMA_ALLOCATIONS_BLOCK_TABLE_H_
#define CREMA_ALLOCATIONS_BLOCK_TABLE_H_

#include <cstdint>

namespace crema {
namespace allocations {

/// The blocks themselves stay as the allocator made them: their sizes and alignment are the program's business. So what
/// is noted stands beside them, eight bytes a block in tables that are between a third and two thirds full.
enum class Noted : std::uint8_t {
  kAsNew,    ///< it was not there
  kInstead,  ///< it was there: its end was not seen
  kNowhere,  ///< there is no memory, or its part of the table is not to be had
};

/// Notes that `block` belongs to `site`.
Noted NoteBlock(const void* block, std::uint32_t site) noexcept;
/// Takes the block away and gives its site; 0: it was not there.
std::uint32_t ForgetBlock(const void* block, bool* is_lost) noexcept;
/// Forgets all blocks, in a forked child: they are the parent's. No other thread may be there.
void ForgetAllBlocks() noexcept;

}  // namespace allocations
}  // namespace crema

#endif  // CREMA_ALLOCATIONS_BLOCK_TABLE_H_
