//! A hierarchy of concepts, each below at most one other, and where it is cut.
//!
//! Files may be as deep as they are long, and may go round in circles, so nothing here recurses and everything takes linear time.

/// Concepts 0, 1, … with the one above each.
pub(super) struct Hierarchy {
    parents: Vec<Option<u32>>,
    /// The number of concepts above each.
    depths: Vec<u32>,
    /// All concepts, those nearer to the top first.
    order: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;

impl Hierarchy {
    /// Concepts with those above them. A circle is cut above its concept with the lowest number; these are returned, too.
    pub(super) fn new(mut parents: Vec<Option<u32>>) -> (Self, Vec<u32>) {
        let tops = cut_circles(&mut parents);
        let mut depths = vec![UNKNOWN; parents.len()];
        let mut path = Vec::new();
        for concept in 0..parents.len() as u32 {
            let mut next = Some(concept);
            while let Some(at) = next.filter(|&at| depths[at as usize] == UNKNOWN) {
                path.push(at);
                next = parents[at as usize];
            }
            let mut depth = next.map_or(0, |at| depths[at as usize] + 1);
            while let Some(at) = path.pop() {
                depths[at as usize] = depth;
                depth += 1;
            }
        }
        let mut order: Vec<u32> = (0..parents.len() as u32).collect();
        order.sort_by_key(|&concept| depths[concept as usize]);
        (Hierarchy { parents, depths, order }, tops)
    }

    /// For each concept, the one at a depth above it; itself if it is not that deep.
    pub(super) fn at_depth(&self, depth: usize) -> Vec<Option<u32>> {
        let mut found = vec![None; self.parents.len()];
        for &concept in &self.order {
            let deeper = self.depths[concept as usize] as usize > depth;
            let parent = self.parents[concept as usize].filter(|_| deeper);
            found[concept as usize] = parent.map_or(Some(concept), |above| found[above as usize]);
        }
        found
    }

    /// For each concept, the one that is so many above it, if there is one.
    pub(super) fn above(&self, steps: usize) -> Vec<Option<u32>> {
        let above = |concept: u32| {
            (0..steps).try_fold(concept, |concept, _| self.parents[concept as usize])
        };
        (0..self.parents.len() as u32).map(above).collect()
    }

    /// The classes that the options ask for, a list a level.
    pub(super) fn cut(&self, depths: &[usize], levels: usize) -> Vec<Vec<Option<u32>>> {
        if depths.is_empty() {
            (1..=levels).map(|steps| self.above(steps)).collect()
        } else {
            depths.iter().map(|&depth| self.at_depth(depth)).collect()
        }
    }
}

/// Takes the concept with the lowest number of each circle to the top.
fn cut_circles(parents: &mut [Option<u32>]) -> Vec<u32> {
    let mut tops = Vec::new();
    // The walk that a concept was first met on.
    let mut walks = vec![UNKNOWN; parents.len()];
    for walk in 0..parents.len() as u32 {
        let mut next = Some(walk);
        while let Some(at) = next.filter(|&at| walks[at as usize] == UNKNOWN) {
            walks[at as usize] = walk;
            next = parents[at as usize];
        }
        // Back on the same walk: once around, for the lowest.
        if let Some(start) = next.filter(|&at| walks[at as usize] == walk) {
            let (mut lowest, mut at) = (start, parents[start as usize]);
            while let Some(concept) = at.filter(|&at| at != start) {
                lowest = lowest.min(concept);
                at = parents[concept as usize];
            }
            parents[lowest as usize] = None;
            tops.push(lowest);
        }
    }
    tops
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chain_as_long_as_a_file_is_cut_anywhere() {
        let length = 1_000_000;
        let parents = (0..length).map(|at| if at == 0 { None } else { Some(at - 1) }).collect();
        let (hierarchy, tops) = Hierarchy::new(parents);
        assert!(tops.is_empty());
        let found = hierarchy.at_depth(7);
        assert_eq!((found[3], found[7], found[999_999]), (Some(3), Some(7), Some(7)));
        assert_eq!(hierarchy.above(2)[..3], [None, None, Some(0)]);
    }

    proptest! {
        #[test]
        fn every_concept_is_below_a_top(parents in prop::collection::vec(prop::option::of(0_u32..20), 20)) {
            let (hierarchy, tops) = Hierarchy::new(parents.clone());
            for (concept, &parent) in parents.iter().enumerate() {
                // Only the tops of circles have lost what is above them.
                let top = tops.contains(&(concept as u32));
                prop_assert_eq!(hierarchy.parents[concept], parent.filter(|_| !top));
                let steps = std::iter::successors(Some(concept as u32), |&at| hierarchy.parents[at as usize]).take(30).count();
                prop_assert_eq!(steps, hierarchy.depths[concept] as usize + 1);
                for depth in 0..4 {
                    let up = (hierarchy.depths[concept] as usize).saturating_sub(depth);
                    prop_assert_eq!(hierarchy.at_depth(depth)[concept], hierarchy.above(up)[concept]);
                }
            }
            for top in tops {
                // It was below itself, and so were only concepts with higher numbers in between.
                let walk: Vec<u32> = std::iter::successors(parents[top as usize], |&at| parents[at as usize]).take_while(|&at| at != top).take(30).collect();
                prop_assert!(walk.len() < 20 && walk.iter().all(|&at| at > top));
            }
        }
    }
}
